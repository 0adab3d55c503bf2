-- move brings a change of whose blogs a feed has, committed, or one that changed nothing, to
-- the caches of its owner. It may come late, twice, or in another order.
--
-- KEYS     following, its lease, inbox: of the owner
-- ARGV     the owner's version since the change; 1 if it changed something, else 0; 1 if
--          the target is followed and not muted now, else 0; target (8 bytes); since (ms)
-- Returns  false where the inbox needs no blogs of the target; else its lowest member,
--          empty while it is being built
-- Cost     O(log) of those followed; an unfollow looks through the inbox
local following, lease, inbox = KEYS[1], KEYS[2], KEYS[3]
local version, followed, target = tonumber(ARGV[1]), ARGV[3] == '1', ARGV[4]

-- A fill that has read already may have read too early.
redis.call('DEL', lease)
local have = tonumber(redis.call('ZSCORE', following, 'v') or nil)
if have and have < version then
  if ARGV[2] == '1' and have == version - 1 then
    if followed then redis.call('ZADD', following, ARGV[5], target) else redis.call('ZREM', following, target) end
    redis.call('ZADD', following, ARGV[1], 'v')
  else
    redis.call('DEL', following)
    have = nil
  end
end

local lacks = have and not redis.call('ZSCORE', following, target)
if not followed then
  if lacks then -- as the list itself says, whatever order things came in
    for _, m in ipairs(redis.call('ZRANGE', inbox, 0, -1)) do
      if string.sub(m, 9) == target then redis.call('ZREM', inbox, m) end
    end
  end
  return false
end
local floor, at = unpack(redis.call('ZRANGE', inbox, 0, 0, 'WITHSCORES'))
if lacks or not floor then return false end
return at == '-inf' and '' or floor
