-- take reads a value, or leases the filling of it to the first who finds it missing.
--
-- KEYS     the value, its lease
-- ARGV     token; life of the lease (ms)
-- Returns  the value; false where it is missing
-- Cost     O(1)
local value = redis.call('GET', KEYS[1])
if not value then redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) end
return value
