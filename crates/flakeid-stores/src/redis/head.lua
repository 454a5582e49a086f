-- namespace, rows, used, fences | the run or "" if unknown, how many replicas must confirm
local time = redis.call('TIME')
local now, replicas = ARGV[1], 0
if now == '' then now, replicas = run(tonumber(ARGV[2])) end
return {
    now, replicas, time[1], time[2],
    redis.call('HGET', KEYS[1], 'text'), redis.call('HGET', KEYS[1], 'rows'),
    redis.call('HLEN', KEYS[2]), redis.call('ZCARD', KEYS[3]), redis.call('ZCARD', KEYS[4]),
}
