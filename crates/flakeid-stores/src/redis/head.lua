-- KEYS: namespace, rows, used, fences. ARGV: the run, or "" if it is unknown; the number of replicas that must confirm.
-- Returns the state with which every transaction begins.
local time = redis.call('TIME')
local now, replicas = ARGV[1], 0
if now == '' then now, replicas = run(tonumber(ARGV[2])) end
return {
    now, replicas, time[1], time[2],
    redis.call('HGET', KEYS[1], 'text'), redis.call('HGET', KEYS[1], 'rows'),
    redis.call('HLEN', KEYS[2]), redis.call('ZCARD', KEYS[3]), redis.call('ZCARD', KEYS[4]),
}
