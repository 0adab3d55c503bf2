-- like brings a change of a person's likes, committed, or one that changed nothing, to the
-- caches. It may come late, twice, or in another order.
--
-- KEYS     likes, their lease, oldlikes: of one person
-- ARGV     the person's version since the change; 1 if it changed something, else 0; 1 if the
--          blog is liked now, else 0; its id (8 bytes); since (ms); how many likes are kept
-- Returns  nothing
-- Cost     O(log) of the likes; 7 bits for one that is trimmed
local likes, lease, old = KEYS[1], KEYS[2], KEYS[3]
local version, most = tonumber(ARGV[1]), tonumber(ARGV[6])

-- A fill that has read already may have read too early.
redis.call('DEL', lease)
local head = redis.call('ZMSCORE', likes, 'v', 'f', 'g')
if not head[1] or -1 - head[1] >= version then return end
if ARGV[2] ~= '1' or -1 - head[1] ~= version - 1 then
  redis.call('DEL', likes, old)
  return
end
redis.call('ZADD', likes, -1 - version, 'v')
if ARGV[3] ~= '1' then
  redis.call('ZREM', likes, ARGV[4])
  return
end
redis.call('ZADD', likes, ARGV[5], ARGV[4])
if redis.call('ZCARD', likes) - 3 <= most then return end

local trimmed, since = unpack(redis.call('ZRANGE', likes, 3, 3, 'WITHSCORES'))
local floor, gen = -1 - head[2], -1 - head[3]
redis.call('ZREM', likes, trimmed)
redis.call('ZADD', likes, -1 - math.max(floor, tonumber(since)), 'f')

local room
local have = redis.call('GETRANGE', old, 0, 29)
if have == '' and floor == 0 then -- nothing was trimmed so far: a filter of nothing is right
  room = math.ceil(most / 2)
  redis.call('SET', old, string.format('%015.0f%015.0f', gen, room), 'PX', math.max(1, redis.call('PTTL', likes)))
  redis.call('SETBIT', old, 239 + 8 * math.ceil(most * 10 / 8), 0)
elseif tonumber(string.sub(have, 1, 15)) == gen then
  room = tonumber(string.sub(have, 16, 30))
else
  redis.call('DEL', old)
  return
end
if room == 0 then -- too full to tell much: both are filled anew
  redis.call('DEL', likes, old)
  return
end
redis.call('SETRANGE', old, 15, string.format('%015.0f', room - 1))
local bits, a, b = redis.call('STRLEN', old) * 8 - 240, 0, 0
for i = 1, 8 do
  a = (a * 1664525 + string.byte(trimmed, i)) % 4294967291
  b = (b * 1103515 + string.byte(trimmed, i)) % 4294967279
end
for i = 0, 6 do redis.call('SETBIT', old, 240 + (a + i * b) % bits, 1) end
