-- wrote tells how long ago a person wrote; who has no mark is given one.
--
-- KEYS     wrote
-- ARGV     its life (ms)
-- Returns  ms since it was set; false where it was missing
-- Cost     O(1)
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
  return false
end
return tonumber(ARGV[1]) - left
