// Package db is the only place that speaks SQL: one function, one statement, in two
// dialects (MySQL with MariaDB and TiDB, and SQLite for the embedded default).
//
// Reads are methods of [DB] and, inside a transaction, of [Tx] alike; everything that
// writes is a method of [Tx]. [DB.Transact] alone begins, commits and retries.
//
// Every transaction takes its locks in one order: user, actor rows ascending, blog,
// following, follower, user_count ascending, publish_key, consumed, dead_letter, lane. The
// lane row comes last, so that its number is the commit order; after it only the outbox row
// is written.
//
// Errors of the drivers end here: what the store cannot do now is UNAVAILABLE, what is not
// there is NOT_FOUND, and all else is wrapped with what was being done.
package db
