-- namespace, rows, used, fences
local time = redis.call('TIME')
return {
    time[1], time[2],
    redis.call('HGET', KEYS[1], 'text'), redis.call('HGET', KEYS[1], 'rows'),
    redis.call('HLEN', KEYS[2]), redis.call('ZCARD', KEYS[3]), redis.call('ZCARD', KEYS[4]),
}
