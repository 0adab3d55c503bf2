-- renew gives a key that is there a value of a newer version. One that is not there is left
-- for whoever reads it: what comes late would be stored as the newest.
--
-- KEYS     the key, its lease
-- ARGV     the version; the value, which ends with a space and the version; its life (ms)
-- Returns  nothing
-- Cost     O(1)
redis.call('DEL', KEYS[2])
local have = redis.call('GET', KEYS[1])
if have and tonumber(string.match(have, '%d+$')) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
