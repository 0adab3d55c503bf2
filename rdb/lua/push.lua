-- push puts entries into inboxes that are there. What is below the lowest entry of an
-- inbox is left out, unless it is being built: below it, SQL is read.
--
-- KEYS     inboxes, of one slot
-- ARGV     how many entries an inbox keeps; then for each entry its time (ms) and member
-- Returns  how many entries were put in that had not been there
-- Cost     O(log) of the inbox for each inbox and entry
local size, added = tonumber(ARGV[1]), 0
for _, inbox in ipairs(KEYS) do
  local low = redis.call('ZRANGE', inbox, 0, 0, 'WITHSCORES')
  if low[1] then
    local floor, building = tonumber(low[2]), nil
    for i = 2, #ARGV, 2 do
      local at, into = tonumber(ARGV[i]), true
      if at <= floor then
        if building == nil then building = redis.call('ZCOUNT', inbox, '+inf', '+inf') > 0 end
        into = building or at == floor
      end
      if into and redis.call('ZADD', inbox, ARGV[i], ARGV[i + 1]) == 1 then
        added = added + 1
        -- Of one time Redis alone knows the order: what became the lowest was below it.
        if at == floor and not building and redis.call('ZRANK', inbox, ARGV[i + 1]) == 0 then
          redis.call('ZREM', inbox, ARGV[i + 1])
          added = added - 1
        end
      end
    end
    redis.call('ZREMRANGEBYRANK', inbox, 0, -size - 1)
  end
end
return added
