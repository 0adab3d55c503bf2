// Package feed publishes blogs and reads them back: a person's own, and the feed of whom
// they follow.
//
// The feed is read from SQL alone, and exactly: the blogs of the people followed now,
// newest id first. It looks first where the answer most likely is, in ranges of time, and
// after a handful of them reads all that is left, so its cost is bounded whatever the
// distribution.
package feed
