-- rows, fences | from, to, now, hottest, incarnation, whether by name, name, offset, page
-- One page of the nodes by fence: how long it was, and those of its rows that may be candidates.
-- The client looks again, more exactly.
local function candidate(text)
    local ok, row = pcall(cjson.decode, text)
    -- What cannot be read is the client's to complain about.
    if not ok or type(row) ~= 'table' then return true end
    if row.state == 'quarantined' then return false end
    local unexpired = type(row.expires) == 'number' and row.expires > tonumber(ARGV[3])
    if unexpired and row.incarnation == ARGV[5] then return false end
    return ARGV[6] == '0' or row.name == ARGV[7]
end
local nodes = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[4], 'LIMIT', ARGV[8], ARGV[9])
local found = { tostring(#nodes) }
for _, node in ipairs(nodes) do
    if node >= ARGV[1] and node <= ARGV[2] then
        local text = redis.call('HGET', KEYS[1], node)
        if text and candidate(text) then
            found[#found + 1] = node
            found[#found + 1] = text
        end
    end
end
return found
