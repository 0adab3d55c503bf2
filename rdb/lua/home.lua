-- home reads on in a person's inbox, strictly past an id, without those not followed now.
-- It marks what is missing for whoever fills it: the list of those followed by a lease, an
-- inbox read from its head by a token below all. Whoever's life ends soon may have lost it.
-- KEYS     inbox, following, its lease, wrote: of one person
-- ARGV     token (16 bytes); how many entries; up or down; the id (8 bytes) and its time
--          (ms or inf); life of lease and building, of the inbox, of wrote (ms)
-- Returns  version of following, or empty; ms since wrote, or empty; the inbox: none, mine
--          (to build), building or whole; its lowest member; then the entries
-- Cost     a page of the inbox, at most all of it; two writes where much is missing
local inbox, following, lease, wrote = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local most, up, id, time = ARGV[2] + 4, ARGV[3] == 'up', ARGV[4], ARGV[5]
local left = redis.call('PTTL', wrote)
if left < 0 then redis.call('SET', wrote, '', 'PX', ARGV[8]) end
local version = redis.call('ZSCORE', following, 'v')
if not version then redis.call('SET', lease, ARGV[1], 'NX', 'PX', ARGV[6]) end
local floor, at = unpack(redis.call('ZRANGE', inbox, 0, 0, 'WITHSCORES'))
local life = redis.call('PTTL', inbox)
if at ~= '-inf' and life <= tonumber(ARGV[6]) and redis.call('DEL', inbox) then floor = nil end
local state = at == '-inf' and 'building' or floor and 'whole' or time == '+inf' and 'mine' or 'none'
if state == 'mine' then redis.call('ZADD', inbox, '-inf', ARGV[1]); redis.call('PEXPIRE', inbox, ARGV[6]) end
local out = {version or '', left < 0 and '' or ARGV[8] - left, state, floor or ''}
if state ~= 'whole' or not version then return out end
if life < ARGV[7] * 0.9 then redis.call('PEXPIRE', inbox, ARGV[7]) end

local function past(m) -- by bytes: < on strings goes by the machine's locale
  for i = 1, 8 do
    local d = string.byte(m, i) - string.byte(id, i)
    if d ~= 0 then return (d > 0) == up end
  end
end
at = redis.call('ZCOUNT', inbox, up and '-inf' or '(' .. time, up and '(' .. time or '+inf')
repeat
  local members, authors = redis.call(up and 'ZRANGE' or 'ZREVRANGE', inbox, at, at + most + 9), {}
  for i, m in ipairs(members) do authors[i] = string.sub(m, 9) end
  local since = #members > 0 and redis.call('ZMSCORE', following, unpack(authors))
  for i, m in ipairs(members) do if since[i] and #out < most and past(m) then out[#out + 1] = m end end
  at = at + #members
until #members == 0 or #out >= most
return out
