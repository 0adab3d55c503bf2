// Package events keeps the event log: the rows of the outbox, in lanes whose numbers rise
// in the order of commits. See [db.Tx.Publish] for how they are written.
package events
