-- KEYS: namespace, rows, used, fences, history, sub-grants.
-- ARGV: the run that was read, the number of replicas that must confirm,
--   the namespace's value or '', the number of changes or '', the namespace's new value or '',
--   whether the present rows are all rows that ever existed, whether to write even if nothing changes,
--   the number of rows that were read (each: node, value or ''), the number of rows to write (each: node, fence, value),
--   the number of records (each: member), the number of sub-grants (each: member),
--   the number of ranges of records to remove (each: first, end), and the same for sub-grants.
-- Returns 1, or 0 if anything that was read has changed.
local at = 0
local function take() at = at + 1; return ARGV[at] end

-- All comparisons come first, and a key of the wrong type fails here, before anything is written.
local known, confirming = take(), tonumber(take())
local now, replicas = run(confirming)
if now ~= known or replicas < confirming then return 0 end
for key = 3, 6 do redis.call('ZCARD', KEYS[key]) end
redis.call('HLEN', KEYS[2])
if (redis.call('HGET', KEYS[1], 'text') or '') ~= take() then return 0 end
local changes = take()
if changes ~= '' and (redis.call('HGET', KEYS[1], 'changes') or '0') ~= changes then return 0 end
local text, whole, always = take(), take(), take()
for _ = 1, tonumber(take()) do
    local node, seen = take(), take()
    if (redis.call('HGET', KEYS[2], node) or '') ~= seen then return 0 end
end

local writes = text ~= '' or always == '1'
if text ~= '' then redis.call('HSET', KEYS[1], 'text', text) end
for _ = 1, tonumber(take()) do
    local node, fence, row = take(), take(), take()
    writes = true
    if redis.call('HSET', KEYS[2], node, row) == 1 then
        redis.call('HINCRBY', KEYS[1], 'rows', 1)
    end
    redis.call('ZADD', KEYS[3], 0, node)
    redis.call('ZADD', KEYS[4], fence, node)
end
for key = 5, 6 do
    for _ = 1, tonumber(take()) do
        writes = true
        redis.call('ZADD', KEYS[key], 0, take())
    end
end
for key = 5, 6 do
    for _ = 1, tonumber(take()) do
        local first, last = take(), take()
        writes = true
        redis.call('ZREMRANGEBYLEX', KEYS[key], first, last)
    end
end
if whole == '1' then redis.call('HSET', KEYS[1], 'rows', redis.call('HLEN', KEYS[2])) end
if writes then redis.call('HINCRBY', KEYS[1], 'changes', 1) end
return 1
