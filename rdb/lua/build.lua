-- build makes an inbox of what was read from SQL, if the building that was begun before
-- the reading still goes on. What was pushed meanwhile stays, unless it was too much.
--
-- KEYS     inbox
-- ARGV     token of the building; how many entries an inbox keeps; its life (ms); then
--          for each entry its time (ms) and member
-- Returns  1 if built, else 0
-- Cost     O(log) for each entry
local inbox, token = KEYS[1], ARGV[1]
if not redis.call('ZSCORE', inbox, token) then return 0 end
for i = 4, #ARGV, 1000 do
  redis.call('ZADD', inbox, unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('ZREM', inbox, token)
redis.call('ZREMRANGEBYRANK', inbox, 0, -tonumber(ARGV[2]) - 1)
redis.call('PEXPIRE', inbox, ARGV[3])
return 1
