-- liked tells which blogs a person likes, as far as the newest likes and the filter of those
-- below their floor can. Who finds nothing may fill it, and holds the lease.
--
-- KEYS     likes, their lease, oldlikes: of one person
-- ARGV     token; life of the lease, of the likes (ms); then for each blog its id (8 bytes)
--          and its time (ms)
-- Returns  false where the likes are missing; else a letter for each blog: y for liked, n for
--          not, m for maybe
-- Cost     a look-up for each blog, and 7 bits for each below the floor
local likes, lease, old = KEYS[1], KEYS[2], KEYS[3]
local head = redis.call('ZMSCORE', likes, 'v', 'f', 'g')
if not head[1] then
  redis.call('SET', lease, ARGV[1], 'NX', 'PX', ARGV[2])
  return false
end
if redis.call('PTTL', likes) < ARGV[3] * 0.9 then
  redis.call('PEXPIRE', likes, ARGV[3])
  redis.call('PEXPIRE', old, ARGV[3])
end
local floor, bits, ids = -1 - head[2], false, {}
for i = 4, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
if #ids == 0 then return '' end

-- isOld tells whether a blog may be among the likes below the floor.
local function isOld(id)
  if bits == false then
    local gen = tonumber(string.sub(redis.call('GETRANGE', old, 0, 14), 1, 15))
    bits = gen == -1 - head[3] and redis.call('STRLEN', old) * 8 - 240 or nil
  end
  if not bits then return true end
  local a, b = 0, 0
  for i = 1, 8 do
    a = (a * 1664525 + string.byte(id, i)) % 4294967291
    b = (b * 1103515 + string.byte(id, i)) % 4294967279
  end
  for i = 0, 6 do
    if redis.call('GETBIT', old, 240 + (a + i * b) % bits) == 0 then return false end
  end
  return true
end

local since, out = redis.call('ZMSCORE', likes, unpack(ids)), {}
for i, id in ipairs(ids) do
  if since[i] then
    out[i] = 'y'
  elseif tonumber(ARGV[3 + 2 * i]) > floor or not isOld(id) then
    out[i] = 'n'
  else
    out[i] = 'm'
  end
end
return table.concat(out)
