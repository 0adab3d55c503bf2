-- limit lets some more through if every window has room for all; else it counts nothing.
-- A window keeps the times of the last that it let through, as many as it allows: it has
-- room when those that it would forget are a window's length ago. So no interval of that
-- length ever holds more. window.go is the same step for step.
--
-- KEYS     one list for each window, all of one slot: times in ms, newest first
-- ARGV     now (ms since 1970); how many more; then for each key: the most (at least so
--          many) and the window's length (ms)
-- Returns  0 if let through, and counted; else ms until it would be, at least 1
-- Cost     for each key two LINDEX, and if let through LPUSH, LTRIM and PEXPIRE; a list
--          has at most as many entries as the window allows
local now, n, wait, at = tonumber(ARGV[1]), tonumber(ARGV[2]), 0, {}
for i, key in ipairs(KEYS) do
  local most, length = tonumber(ARGV[2 * i + 1]), tonumber(ARGV[2 * i + 2])
  -- A clock that stepped back, or is behind another server's: not before the newest.
  at[i] = math.max(now, tonumber(redis.call('LINDEX', key, 0) or now))
  local oldest = tonumber(redis.call('LINDEX', key, most - n) or at[i] - length)
  if at[i] - oldest < length then
    wait = math.max(wait, math.min(oldest + length - now, length)) -- by then Redis has forgotten
  end
end
if wait > 0 then return wait end

for i, key in ipairs(KEYS) do
  for _ = 1, n do redis.call('LPUSH', key, at[i]) end
  redis.call('LTRIM', key, 0, tonumber(ARGV[2 * i + 1]) - 1)
  redis.call('PEXPIRE', key, tonumber(ARGV[2 * i + 2]))
end
return 0
