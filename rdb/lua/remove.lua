-- remove takes an entry out of inboxes. One that is being built is dropped: a push may have
-- trimmed what there would be room for now.
--
-- KEYS     inboxes, of one slot
-- ARGV     the entry's member
-- Returns  from how many it was taken
-- Cost     O(log) of the inbox for each
local taken = 0
for _, inbox in ipairs(KEYS) do
  if redis.call('ZREM', inbox, ARGV[1]) == 1 then
    taken = taken + 1
    if redis.call('ZCOUNT', inbox, '+inf', '+inf') > 0 then redis.call('DEL', inbox) end
  end
end
return taken
