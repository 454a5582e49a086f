-- Which run of the data this server has, `run_id/master_replid`: '' on a replica, '?' where INFO
-- does not say. If replicas must confirm what is written, also how many follow; a client that only
-- copies the data (`redis-cli --rdb`) has no port and cannot become a primary.
local function run(confirming)
    local replication = redis.call('INFO', 'replication')
    if not string.find(replication, 'role:master', 1, true) then return '', 0 end
    local replicas = 0
    if confirming > 0 then
        for _ in string.gmatch(replication, 'slave%d+:[^\r\n]*port=[1-9]') do
            replicas = replicas + 1
        end
    end
    -- Searched for as plain text, because patterns would double the cost.
    local function field(info, name)
        local _, colon = string.find(info, name, 1, true)
        return colon and string.match(info, '^%x+', colon + 1)
    end
    local process = field(redis.call('INFO', 'server'), 'run_id:')
    local history = field(replication, 'master_replid:')
    return process and history and process .. '/' .. history or '?', replicas
end
