-- push puts entries into inboxes that are there. What is below the lowest entry of an
-- inbox is left out, unless it is being built: below it, SQL is read.
--
-- KEYS     inboxes, of one slot
-- ARGV     how many entries an inbox keeps; then for each entry its time (ms) and member
-- Returns  nothing
-- Cost     O(log) of the inbox for each inbox and entry, in two commands
local call = redis.call
local beyond = tostring(-ARGV[1] - 2)
local all = call('EXISTS', unpack(KEYS)) == #KEYS

local function push(inbox, time, member)
  if call('ZADD', inbox, time, member) == 0 then return end
  -- In a full inbox what is below all others is what is trimmed. In another it is told by
  -- its rank: of one time Redis alone knows the order. Where it is being built, the lowest
  -- is the builder's token. Trimming ends that building, as it must: what was trimmed may
  -- be above what the builder brings.
  if call('ZREMRANGEBYRANK', inbox, 0, beyond) == 0 and call('ZRANK', inbox, member) == 0 then
    call('ZREM', inbox, member)
  end
end

for _, inbox in ipairs(KEYS) do
  if all or call('EXISTS', inbox) == 1 then
    for i = 2, #ARGV, 2 do push(inbox, ARGV[i], ARGV[i + 1]) end
  end
end
