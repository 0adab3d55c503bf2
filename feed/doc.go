// Package feed publishes blogs and reads them back: a person's own, and the feed of whom
// they follow.
//
// The feed is exact: the blogs of the people followed now and not muted, newest id first. Its
// head lies in Redis, in an inbox for each reader that [Feed.Consume] fills and [Feed.Home]
// builds where it is missing. Below the inbox, and wherever the caches are not to be believed,
// it is read from SQL: first where the answer most likely is, in ranges of time, and after a
// handful of them all that is left, so its cost is bounded whatever the distribution.
package feed
