package rdb

// window counts what one policy let through, in two buckets of the window's length L that
// begin at multiples of L: used = previous × (1 − elapsed/L) + current, the previous
// bucket taken as spread evenly. One more is let through if used + 1 <= most. So:
//
//   - No bucket ever holds more than most.
//   - Whoever did nothing for two lengths gets most at once, and no more.
//   - An interval of length L, anywhere, holds at most 2·most − 1: that many where most
//     came at the very end of a bucket and others as fast as their weight fell. Most at a
//     time x into a bucket and then as fast as it goes are below most × (1 + x/L).
//   - n buckets in a row hold at most n × most.
//
// used never grows while nothing is let through, also from bucket to bucket; so there is
// a first moment at which the next one passes, and it passes from then on.
//
// lua/limit.lua is the same step for step. All numbers are whole, so both are exact.
type window struct {
	bucket   int64 // the number of the newest bucket: time / length
	current  int64 // counted in it
	previous int64 // counted in the one before
}

// at is the window at a time. A clock that stepped back, or is behind that of another
// server, changes nothing.
func (w window) at(nowMS, lengthMS int64) window {
	switch bucket := nowMS / lengthMS; {
	case bucket == w.bucket+1:
		return window{bucket: bucket, previous: w.current}
	case bucket > w.bucket:
		return window{bucket: bucket}
	}
	return w
}

// wait is how many milliseconds after now a window, as of now, lets one more through; 0:
// at once. A now before the newest bucket is taken as its start, and the wait is never
// more than two lengths: by then Redis has forgotten the window.
func (w window) wait(nowMS, most, lengthMS int64) int64 {
	elapsed := max(nowMS-w.bucket*lengthMS, 0)
	room := (most - 1 - w.current) * lengthMS
	if w.previous*(lengthMS-elapsed) <= room {
		return 0
	}
	var free int64
	if room >= 0 { // within this bucket, as the weight of the previous one falls
		free = (w.bucket+1)*lengthMS - room/w.previous
	} else { // within the next one, whose previous this one is
		free = (w.bucket+2)*lengthMS - (most-1)*lengthMS/w.current
	}
	return min(free-nowMS, 2*lengthMS)
}
