package db

import (
	"math"

	"kith/social"
)

// Heat tells how hot a blog is by its likes, of which one counts half as much as one that is
// six hours younger: the logarithm, to base 2, of the sum of 2^(since/half-life) over them.
// So it does not change while nothing happens, and the order of blogs is that of their heat
// at any time: what the literature calls forward decay (Cormode, Shkapenyuk, Srivastava, Xu,
// Forward Decay, ICDE 2009). A like adds to it, the end of one takes the same away. As a
// number it is about 83,000 in 2026, exact to some 1e-11.
type Heat float64

// halfLife is when a like counts half, in ms.
const halfLife = 6 * 60 * 60 * 1000

// NoHeat is that of a blog without likes.
var NoHeat = Heat(math.Inf(-1))

// heatSlack is up to which part of all its warmth, that of likes that have ended among it, the
// heat of a blog may be off. Each change may round off some 1e-11 of the warmth of its time, and
// what is below leastHeat of it is lost when the rest is taken away: so for a heat to be right
// it must be right in this measure, in which nothing that rounding does comes near a millionth.
const heatSlack = 1e-6

// Near tells that two heats of a blog differ by no more than rounding explains, where most is
// the heat that the blog would have of all its likes, had none of them ended.
func (h Heat) Near(other, most Heat) bool {
	return h == other || math.Abs(math.Exp2(float64(h-most))-math.Exp2(float64(other-most))) <= heatSlack
}

// Warmth gathers the likes that began and ended of one blog. The zero Warmth is none.
type Warmth struct {
	// of is the sum relative to a blog as hot as at, below zero where more ended.
	of float64
	at Heat
}

// Add counts a like since then, n times: -1 for one that ended.
func (w *Warmth) Add(since social.Millis, n float64) { w.AddHeat(Heat(since)/halfLife, n) }

// AddHeat counts likes that make up a heat, n times.
func (w *Warmth) AddHeat(h Heat, n float64) {
	if h == NoHeat {
		return
	}
	switch {
	case w.of == 0:
		w.at = h
	case h > w.at: // relative to the newest: to one of 256 days ago it is beyond a double
		w.of, w.at = w.of*math.Exp2(float64(w.at-h)), h
	}
	w.of += n * math.Exp2(float64(h-w.at))
}

// Cools tells that more warmth ended than began.
func (w Warmth) Cools() bool { return w.of < 0 }

// delta is what is written to move a heat by the likes: that of a blog that has only these,
// negative where they are to be taken away; false for nothing to move.
func (w Warmth) delta() (float64, bool) {
	if math.Abs(w.of) < leastHeat {
		return 0, false
	}
	// The sign says which way, so that none is zero or below; only what is broken comes near.
	return math.Copysign(max(leastHeat, float64(w.at)+math.Log2(math.Abs(w.of))), w.of), true
}

// leastHeat is what is left of a sum when all that is taken away again, for rounding.
const leastHeat = 1e-9

// heated is the expression of an upsert for the new heat, from the old one, the delta, and the
// likes as they were and by how much they move: without any there is none, whatever rounding
// has left.
func (d *dialect) heated() string {
	old, by := "blog_count.heat", d.excluded("heat")
	return "CASE WHEN blog_count.likes + " + d.excluded("likes") + " <= 0 THEN NULL" +
		" WHEN " + by + " IS NULL THEN " + old +
		" WHEN " + by + " >= 0 THEN CASE WHEN " + old + " IS NULL THEN " + by +
		" WHEN " + old + " > " + by + " THEN " + old + " + LOG2(1 + POW(2, " + by + " - " + old + "))" +
		" ELSE " + by + " + LOG2(1 + POW(2, " + old + " - " + by + ")) END" +
		" WHEN " + old + " + " + by + " <= 0 OR POW(2, -" + by + " - " + old + ") > 1 - 1e-9 THEN NULL" +
		" ELSE " + old + " + LOG2(1 - POW(2, -" + by + " - " + old + ")) END"
}
