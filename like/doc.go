// Package like is who likes what: likes and their ends, counted in the transaction, and read
// through caches that are exact; lists of likers and of what somebody likes; the hot blogs;
// and the live changes of counts.
package like
