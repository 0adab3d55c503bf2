// Package notify is what a person is told: who follows them, asks to, has let them follow, and
// who likes their blogs. A line stands for what is so now, gathered by blog for likes; what is
// undone goes. Lines are kept in SQL alone, made from events, and the truth of each is the
// relation that it tells of.
package notify
