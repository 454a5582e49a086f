-- KEYS: rows, fences. ARGV: from, to, now, hottest, incarnation, whether to compare the name, name, offset, page length.
-- Returns the length of one page of the nodes in the order of their fences, and the rows of the page that may be candidates.
-- The client then checks these rows exactly.
local function candidate(text)
    local ok, row = pcall(cjson.decode, text)
    -- The client reports a row that cannot be parsed.
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
