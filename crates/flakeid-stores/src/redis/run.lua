-- Returns the run of the data on this server, `run_id/master_replid`: '' on a replica, '?' if INFO does not contain it.
-- If replicas must confirm writes, also returns the number of replicas that follow. A client that only copies the data
-- (`redis-cli --rdb`) has no port and cannot become a primary, so it is not counted.
local function run(confirming)
    local replication = redis.call('INFO', 'replication')
    if not string.find(replication, 'role:master', 1, true) then return '', 0 end
    local replicas = 0
    if confirming > 0 then
        for _ in string.gmatch(replication, 'slave%d+:[^\r\n]*port=[1-9]') do
            replicas = replicas + 1
        end
    end
    -- The search is for a plain string, because a pattern would double the cost.
    local function field(info, name)
        local _, colon = string.find(info, name, 1, true)
        return colon and string.match(info, '^%x+', colon + 1)
    end
    local process = field(redis.call('INFO', 'server'), 'run_id:')
    local history = field(replication, 'master_replid:')
    return process and history and process .. '/' .. history or '?', replicas
end
