// Package cache decides when the caches in Redis may be believed, and makes them right
// after every write.
//
// The caches of a partition are on or off, for all servers, by a row of SQL. A [State]
// reads the rows again and again, and a server believes its reading for 2 s at most, from
// before it was sent. Whoever has committed a change reads the rows anew, brings the change
// to the caches that are on ([Settler]), and where that fails switches them off and
// answers when no server can believe them any more. A [Guard] switches them on again, in
// the next epoch, whose keys are all new.
//
//	on, epoch e ──── a change could not be brought to Redis, ───▶ off, epoch e
//	    ▲            or Redis is away, or has another history        │
//	    └───────── epoch e + 1: off for 2 s, Redis answers ◀─────────┘
//
// So what a mutation's answer has told, every later read shows: through Redis that knows
// it, or through SQL.
package cache
