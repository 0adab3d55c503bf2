-- bloom stands before liked and like: the bits of an id in a filter, as bloomBits in likes.go
-- has them. All numbers stay below 2^53.
--
-- KEYS     none
-- ARGV     none
-- Returns  nothing
-- Cost     8 steps for an id
local head = 30 -- bytes before the bits

local function bloom(id, bits)
  local a, b, at = 0, 0, {}
  for i = 1, 8 do
    a = (a * 1664525 + string.byte(id, i)) % 4294967291
    b = (b * 1103515 + string.byte(id, i)) % 4294967279
  end
  for i = 0, 6 do at[i + 1] = head * 8 + (a + i * b) % bits end
  return at
end
