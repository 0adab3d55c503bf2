-- filllikes stores the likes that were read from SQL under a lease that was taken before the
-- reading, with the filter of those below the floor. Whoever changed the likes since then has
-- ended the lease; it is refused then, as it is where they are there.
--
-- KEYS     likes, their lease, oldlikes: of one person
-- ARGV     token of the lease; life (ms); the filter, empty for none; then pairs of score and
--          member
-- Returns  1 if stored, else 0
-- Cost     O(log) for each like
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 4, #ARGV, 1000 do
  redis.call('ZADD', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[3])
if ARGV[3] ~= '' then redis.call('SET', KEYS[3], ARGV[3], 'PX', ARGV[2]) end
return 1
