// Package follow keeps the follow graph: who follows whom, the lists of it, and their
// counts.
//
// Every edge has one owner, the person who follows. Whoever changes an edge first locks
// its owner's actor row, then reads the old state, decides, and writes both directions,
// the counts and the event in the same transaction. Follow and unfollow of one server
// share transactions: see [db.Group].
package follow
