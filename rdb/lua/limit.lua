-- limit lets one more through if every window has room for it; else it counts nothing.
-- A window is two buckets of its own length: used = previous * (1 - elapsed / length) +
-- current. window.go says what that promises, and is the same step for step.
--
-- KEYS     one hash for each window, all of one slot: b, the number of its newest bucket
--          (time / length); c, counted in it; p, counted in the one before
-- ARGV     now (ms since 1970); then for each key: the most (at least 1) and the window's
--          length (ms). Most * length stays below 2^53, so that all numbers are whole.
-- Returns  0 if let through, and counted; else ms until it would be, at least 1
-- Cost     for each key one HMGET, and if let through one HSET and one PEXPIRE
local now, wait, found = tonumber(ARGV[1]), 0, {}
for i, key in ipairs(KEYS) do
  local most, length = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local h = redis.call('HMGET', key, 'b', 'c', 'p')
  local b, c, p = tonumber(h[1] or 0), tonumber(h[2] or 0), tonumber(h[3] or 0)
  local bucket = math.floor(now / length)
  if bucket > b then
    if bucket == b + 1 then p = c else p = 0 end
    b, c = bucket, 0
  end
  local elapsed = math.max(now - b * length, 0) -- a clock that stepped back: the bucket's start
  local room = (most - 1 - c) * length
  if p * (length - elapsed) > room then
    local free
    if room >= 0 then
      free = (b + 1) * length - math.floor(room / p)
    else
      free = (b + 2) * length - math.floor((most - 1) * length / c)
    end
    wait = math.max(wait, math.min(free - now, 2 * length))
  end
  found[i] = {b, c + 1, p, 2 * length}
end
if wait > 0 then return wait end

for i, key in ipairs(KEYS) do
  redis.call('HSET', key, 'b', found[i][1], 'c', found[i][2], 'p', found[i][3])
  redis.call('PEXPIRE', key, found[i][4])
end
return 0
