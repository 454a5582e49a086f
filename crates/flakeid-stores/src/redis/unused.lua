-- KEYS: used. ARGV: from, to, first, skip. Returns a node without a row, or false if there is none.
local function padded(node) return string.format('%020.0f', node) end
local function free(low, high)
    if high < low then return 0 end
    local used = redis.call('ZLEXCOUNT', KEYS[1], '[' .. padded(low), '[' .. padded(high))
    return high - low + 1 - used
end
-- Returns the free node in [low, high] with `skip` free nodes before it.
local function find(low, high, skip)
    local start = low
    while low < high do
        local middle = math.floor((low + high) / 2)
        if free(start, middle) > skip then high = middle else low = middle + 1 end
    end
    return padded(low)
end
local from, to, first = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local after, before = free(first, to), free(from, first - 1)
if after + before == 0 then return false end
local skip = tonumber(ARGV[4]) % (after + before)
if skip < after then return find(first, to, skip) end
return find(from, first - 1, skip - after)
