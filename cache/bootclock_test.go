package cache

import (
	"testing"
)

func TestBootTimeGoesOn(t *testing.T) {
	t.Parallel()
	for last := bootTime(); ; {
		now := bootTime()
		if now < last || last <= 0 {
			t.Fatalf("%v after %v", now, last)
		}
		if now > last {
			return
		}
	}
}
