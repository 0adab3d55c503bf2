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
local own = redis.call('ZMSCORE', likes, 'v', 'f', 'g')
if not own[1] then
  redis.call('SET', lease, ARGV[1], 'NX', 'PX', ARGV[2])
  return false
end
if redis.call('PTTL', likes) < ARGV[3] * 0.9 then
  for i = 1, 3, 2 do redis.call('PEXPIRE', KEYS[i], ARGV[3]) end
end
local ids, out, floor = {}, {}, -1 - own[2]
for i = 4, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
if #ids == 0 then return '' end

local gen = tonumber(redis.call('GETRANGE', old, 0, 14))
local bits = gen == -1 - own[3] and (redis.call('STRLEN', old) - head) * 8
local function isOld(id) -- may be among the likes below the floor
  if not bits then return true end
  for _, at in ipairs(bloom(id, bits)) do
    if redis.call('GETBIT', old, at) == 0 then return false end
  end
  return true
end
for i, since in ipairs(redis.call('ZMSCORE', likes, unpack(ids))) do
  local isNew = tonumber(ARGV[3 + 2 * i]) > floor
  out[i] = since and 'y' or (isNew or not isOld(ids[i])) and 'n' or 'm'
end
return table.concat(out)
