package db

import (
	"math"
	"testing"

	"kith/social"
)

// days is so many of them, in ms.
func days(n social.Millis) social.Millis { return n * 24 * 60 * 60 * 1000 }

func TestWarmthIsTheSumOfLikesHoweverFarApart(t *testing.T) {
	t.Parallel()
	const now = social.Millis(1_790_000_000_000)
	heat := float64(now) / halfLife
	for name, c := range map[string]struct {
		add   []social.Millis
		end   []social.Millis
		delta float64
		moves bool
	}{
		"none":                              {nil, nil, 0, false},
		"one":                               {[]social.Millis{now}, nil, heat, true},
		"one that ends":                     {nil, []social.Millis{now}, -heat, true},
		"begun and ended":                   {[]social.Millis{now}, []social.Millis{now}, 0, false},
		"four at once":                      {[]social.Millis{now, now, now, now}, nil, heat + 2, true},
		"a half beside one":                 {[]social.Millis{now - halfLife, now}, nil, heat + math.Log2(1.5), true},
		"one of years ago ends, a new one":  {[]social.Millis{now}, []social.Millis{now - days(2000)}, heat, true},
		"a new one, one of years ago":       {[]social.Millis{now, now - days(2000)}, nil, heat, true},
		"ended and begun, years apart":      {[]social.Millis{now - days(2000)}, []social.Millis{now}, -heat, true},
		"cancelled, then one of years ago":  {[]social.Millis{now, now - days(2000)}, []social.Millis{now}, float64(now-days(2000)) / halfLife, true},
		"below what heats are: still a sum": {nil, []social.Millis{0}, -leastHeat, true},
	} {
		var w Warmth
		for _, since := range c.end {
			w.Add(since, -1)
		}
		for _, since := range c.add {
			w.Add(since, 1)
		}
		delta, moves := w.delta()
		if moves != c.moves || math.Abs(delta-c.delta) > 1e-9 {
			t.Errorf("%s: %v, %t, want %v, %t", name, delta, moves, c.delta, c.moves)
		}
	}
}

func TestHeatsAreNearWhereRoundingExplainsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b, most Heat
		want       bool
	}{
		{83000, 83000 + 1e-7, 83000, true},
		{83000, 83000 + 1e-5, 83000, false},
		{83000, 83000 + 1e-5, 83010, true}, // much that has ended
		{NoHeat, 83000, 83030, true},       // the rest of what was a billion times as much
		{NoHeat, 83000, 83010, false},
		{NoHeat, NoHeat, NoHeat, true},
		{NoHeat, 83000, NoHeat, false},
		{NoHeat, 5, 83000, true},
		{90000, 83000, 83000, false},
		{90000, NoHeat, 83000, false},
	} {
		for _, swap := range []bool{false, true} {
			a, b := c.a, c.b
			if swap {
				a, b = b, a
			}
			if got := a.Near(b, c.most); got != c.want {
				t.Errorf("%v and %v of %v: %t", a, b, c.most, got)
			}
		}
	}
}
