package rdb

import "slices"

// window holds when the last were let through, in ms, newest first, and no more of them
// than its policy allows. More have room when those that it would forget for them are a
// window's length ago. So no interval of that length ever holds more than Max, and the wait that is told
// is exact. Two weighted buckets would take less memory, and let nearly twice as many
// through: of 60 a minute, 119 in the worst one.
//
// lua/limit.lua is the same step for step.
type window []int64

// at is the time that more would get: a clock that stepped back, or is behind that of
// another server, is taken as that of the newest.
func (w window) at(nowMS int64) int64 {
	if len(w) > 0 {
		return max(nowMS, w[0])
	}
	return nowMS
}

// wait is how many milliseconds after now it lets n more through; 0: at once. It is never
// more than a length: by then Redis has forgotten the window, whatever the clocks.
func (w window) wait(nowMS, n, most, lengthMS int64) int64 {
	if int64(len(w)) <= most-n {
		return 0
	}
	if oldest := w[most-n]; w.at(nowMS)-oldest < lengthMS {
		return min(oldest+lengthMS-nowMS, lengthMS)
	}
	return 0
}

// with is the window with n more.
func (w window) with(nowMS, n, most int64) window {
	more := slices.Repeat(window{w.at(nowMS)}, int(n))
	return append(more, w[:min(int64(len(w)), most-n)]...)
}
