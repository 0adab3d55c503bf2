package feed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/db"
	"kith/social"
)

// starRig is Stars over rows of a test's own.
type starRig struct {
	*Stars
	clock   time.Time
	rows    map[social.ID][]social.ID // by star, newest first
	reads   int
	reading func() // runs when the rows have been read, before they arrive
}

func newStarRig(most int) *starRig {
	cfg := StarsConfig{Blogs: most}
	r := &starRig{
		Stars: &Stars{cfg: cfg.withDefaults(), shelves: map[social.ID]*shelf{}},
		clock: time.Now(), rows: map[social.ID][]social.ID{},
	}
	r.Stars.now = func() time.Time { return r.clock }
	r.Stars.read = func(_ context.Context, from []db.AuthorFrom, limit int) (map[social.ID][]social.BlogRef, error) {
		r.reads++
		found := map[social.ID][]social.BlogRef{}
		for _, f := range from {
			for _, id := range r.rows[f.AuthorID][:min(limit, len(r.rows[f.AuthorID]))] {
				found[f.AuthorID] = append(found[f.AuthorID], social.BlogRef{ID: id, AuthorID: f.AuthorID})
			}
		}
		if do := r.reading; do != nil {
			r.reading = nil
			do()
		}
		return found, nil
	}
	r.Seen(r.clock)
	return r
}

// publish writes a blog, of which nobody hears yet.
func (r *starRig) publish(star, id social.ID) social.BlogBody {
	r.rows[star] = append(r.rows[star], id)
	slices.SortFunc(r.rows[star], newestFirst)
	return social.BlogBody{BlogID: id, AuthorID: star}
}

// is tells what is kept of stars; "" where nothing is believed.
func (r *starRig) is(t *testing.T, stars ...social.ID) (kept string) {
	t.Helper()
	runs, ok, err := r.runs(t.Context(), stars)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if ok {
			kept += fmt.Sprint(run.star, run.ids, run.floor, " ")
		}
	}
	return kept
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestTheNewestBlogsOfAStarAreKeptDownToAFloor(t *testing.T) {
	t.Parallel()
	r := newStarRig(3)
	r.publish(1, 10)
	equal(t, "all there is", r.is(t, 1), "1 [10] 0 ")
	r.Heard(r.publish(1, 30))
	r.Heard(r.publish(1, 20)) // in its place, however late
	r.Heard(r.publish(2, 25)) // of somebody whom nobody reads
	equal(t, "heard of", r.is(t, 1), "1 [30 20 10] 0 ")
	r.Heard(r.publish(1, 40))
	r.Heard(social.BlogBody{BlogID: 40, AuthorID: 1}) // once more
	equal(t, "too many", r.is(t, 1), "1 [40 30 20] 20 ")
	r.Heard(r.publish(1, 15))
	equal(t, "below the floor", r.is(t, 1), "1 [40 30 20] 20 ")
	r.Heard(social.BlogBody{BlogID: 20, AuthorID: 1, Deleted: true})
	equal(t, "deleted: the floor stays", r.is(t, 1), "1 [40 30] 20 ")
	r.Heard(r.publish(1, 17))
	r.Heard(r.publish(1, 16))
	equal(t, "below the floor there is no room", r.is(t, 1), "1 [40 30] 20 ")
	equal(t, "read", r.reads, 1)
	equal(t, "two at once", r.is(t, 1, 2), "1 [40 30] 20 2 [25] 0 ")
	equal(t, "read", r.reads, 2)
	r.Missed()
	equal(t, "events were missed", r.is(t, 1), "1 [40 30 20] 20 ")
	r.clock = r.clock.Add(shelfLife + time.Second)
	r.Seen(r.clock)
	r.forget()
	equal(t, "kept when nobody reads", len(r.shelves), 0)
}

// What is committed while the rows are read is heard of: before or after they arrive.
func TestABlogCommittedWhileAStarIsReadIsKept(t *testing.T) {
	t.Parallel()
	r := newStarRig(3)
	r.publish(1, 10)
	r.reading = func() { r.Heard(r.publish(1, 20)) }
	equal(t, "kept", r.is(t, 1), "1 [20 10] 0 ")
	r = newStarRig(2)
	r.publish(1, 10)
	r.reading = func() { r.Heard(r.publish(1, 20)); r.Heard(r.publish(1, 30)) }
	equal(t, "too many meanwhile", r.is(t, 1), "1 [30 20] 20 ")
	r = newStarRig(3)
	r.publish(1, 10)
	r.reading = func() { r.publish(1, 20); r.Missed() }
	equal(t, "events were missed meanwhile", r.is(t, 1), "")
	equal(t, "the next page", r.is(t, 1), "1 [20 10] 0 ")
}

func TestStarsAreNotBelievedWhenEventsAreNotSeen(t *testing.T) {
	t.Parallel()
	r := newStarRig(3)
	r.publish(1, 10)
	equal(t, "seen", r.is(t, 1), "1 [10] 0 ")
	r.clock = r.clock.Add(2 * time.Second)
	equal(t, "2 s later", r.is(t, 1), "")
	r.Seen(r.clock)
	equal(t, "seen again", r.is(t, 1), "1 [10] 0 ")
	r.Seen(time.Time{})
	equal(t, "the tail has ended", r.is(t, 1), "")
	r = newStarRig(3)
	r.Seen(time.Time{})
	r.publish(1, 10)
	mine, others := r.register([]social.ID{1})
	equal(t, "registered before the tail began", len(mine)+len(others), 0)

	if _, ok := r.known(); ok {
		t.Error("a list that nobody has read is known")
	}
	r.setList([]social.ID{7, 8}, r.clock)
	before, ok := r.known()
	equal(t, "list", fmt.Sprint(before.ids, ok), "map[7:true 8:true] true")
	r.setList([]social.ID{7, 8}, r.clock)
	again, _ := r.known()
	equal(t, "version of the same", again.version, before.version)
	r.Heard(social.UserBody{UserID: 9, Star: true})
	r.Heard(social.UserBody{UserID: 6})
	more, _ := r.known()
	equal(t, "heard of", fmt.Sprint(more.ids, more.version > before.version), "map[7:true 8:true 9:true] true")
	r.clock = r.clock.Add(30 * time.Second)
	if _, ok := r.known(); ok {
		t.Error("a list of 30 s is known")
	}
}

// Who needs a star that another reads waits for it; where that fails, SQL is read.
func TestStarsAreReadOnceForAll(t *testing.T) {
	t.Parallel()
	r := newStarRig(3)
	r.publish(1, 10)
	waits := make(chan string)
	r.reading = func() {
		go func() {
			runs, ok, err := r.runs(t.Context(), []social.ID{1})
			waits <- fmt.Sprint(len(runs), ok, err)
		}()
		for registered := false; !registered; time.Sleep(time.Millisecond) { //nolint:forbidigo // until the other waits
			_, others := r.register([]social.ID{1})
			registered = len(others) == 1
		}
	}
	equal(t, "read", r.is(t, 1), "1 [10] 0 ")
	equal(t, "the other", <-waits, "1 true <nil>")
	equal(t, "reads", r.reads, 1)
	whole := r.Stars.read
	r.Missed()
	r.Stars.read = func(context.Context, []db.AuthorFrom, int) (map[social.ID][]social.BlogRef, error) {
		return nil, errors.New("away")
	}
	if _, ok, err := r.runs(t.Context(), []social.ID{1}); ok || err == nil {
		t.Errorf("%v %v", ok, err)
	}
	r.Stars.read = whole
	equal(t, "the next", r.is(t, 1), "1 [10] 0 ")
}

// A page reads 50 stars at most, and a server keeps 5,000.
func TestWhatIsKeptOfStarsIsBounded(t *testing.T) {
	t.Parallel()
	r := newStarRig(3)
	var many []social.ID
	for id := range social.ID(maxShelves + 100) {
		many = append(many, id+1)
	}
	for range maxShelves / maxShelvesRead {
		equal(t, "more than a page reads", r.is(t, many[:maxShelves]...) != "", r.reads == maxShelves/maxShelvesRead)
	}
	r.clock = r.clock.Add(time.Second)
	r.Seen(r.clock)
	r.is(t, many[:10]...)
	for range 2 {
		r.is(t, many[maxShelves:]...)
	}
	equal(t, "kept", len(r.shelves), maxShelves)
	reads := r.reads
	r.is(t, many[:10]...)
	equal(t, "who was read lately stays", r.reads, reads)
}

// Any inbox and stars, either way: the first of both, each once, none below the floor.
func TestAMergedPageIsTheFirstOfAll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20_000 {
		most, up := 1+rng.IntN(6), rng.IntN(2) == 0
		past, floor := social.ID(rng.IntN(45)), social.ID(rng.IntN(20))
		if rng.IntN(4) == 0 && !up {
			past = math.MaxInt64
		}
		if up {
			past = max(past, floor)
		}
		var runs []run
		var all, inbox []social.BlogRef
		for id := social.ID(40); id > 0; id-- {
			ref := social.BlogRef{ID: id, AuthorID: 100 + id%5} // authors from 103 on are no stars
			there := (id < past) != up && id != past
			if there && rng.IntN(3) == 0 {
				inbox = append(inbox, ref)
			}
			if ref.AuthorID > 102 {
				continue
			}
			i := slices.IndexFunc(runs, func(r run) bool { return r.star == ref.AuthorID })
			if i < 0 {
				i, runs = len(runs), append(runs, run{star: ref.AuthorID})
			}
			if rng.IntN(2) == 0 {
				runs[i].ids = append(runs[i].ids, id)
				if there {
					all = append(all, ref)
				}
			}
		}
		order := func(a, b social.BlogRef) int { return newestFirst(a.ID, b.ID) }
		if up {
			slices.Reverse(inbox)
			order = func(a, b social.BlogRef) int { return newestFirst(b.ID, a.ID) }
		}
		all = append(all, inbox...)
		slices.SortFunc(all, order)
		all = slices.DeleteFunc(slices.Compact(all), func(r social.BlogRef) bool { return r.ID < floor })
		got := mergeRuns(inbox[:min(most, len(inbox))], runs, past, floor, up, most)
		if want := all[:min(most, len(all))]; !slices.Equal(got, want) {
			t.Fatalf("%d of %v and %v past %d above %d, up %v: %v, want %v", most, inbox, runs, past, floor, up, got, want)
		}
	}
}
