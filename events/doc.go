// Package events is the event log: the rows of the outbox, in lanes whose numbers rise in
// the order of commits, and those who read them. See [db.Tx.Publish] for how they are
// written.
//
//	                          outbox ──> Consumer   every event, once for all servers, and
//	Publish ── commit ──┐       │                   again where it may not have been handled
//	                    v       └──────> Tail       every event from now on, on every server
//	                   Bell ──> wakes both, here and by Redis on the other servers
//
// Events are hints: whoever reads one looks at the rows as they are now and makes its own
// state match, so that repeats and disorder are harmless. Without the bell both poll.
package events
