-- fill stores what was read from SQL under a lease that was taken before the reading.
-- Whoever changed the rows since then has ended the lease; it is refused then, as it is
-- where the key is there.
--
-- KEYS     the key, its lease
-- ARGV     token of the lease; life of the key (ms); SET or ZADD; its arguments, for
--          ZADD pairs of score and member
-- Returns  1 if stored, else 0
-- Cost     O(log) for each pair
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 4, #ARGV, 1000 do
  redis.call(ARGV[3], KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
