-- remove takes an entry out of inboxes.
--
-- KEYS     inboxes, of one slot
-- ARGV     the entry's member
-- Returns  from how many it was taken
-- Cost     O(log) of the inbox for each
local taken = 0
for _, inbox in ipairs(KEYS) do
  taken = taken + redis.call('ZREM', inbox, ARGV[1])
end
return taken
