package db

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// LanePosition is how far a consumer is in a lane.
type LanePosition struct {
	Lane     int    `db:"lane"`
	Position int64  `db:"position"` // the number of the last event it has passed
	Holder   string `db:"holder"`   // who works on the lane, or did last; empty: nobody
}

// ClaimLanes gives the holder every lane of the consumer that nobody holds now, and holds
// its own for longer: until lease has passed by the store's clock. It answers the lanes
// that the holder has, ascending. A consumer that was never seen begins at the oldest
// event that is kept. Reads the primary key.
func (tx *Tx) ClaimLanes(ctx context.Context, consumer, holder string, lease time.Duration) ([]LanePosition, error) {
	for {
		err := tx.exec(ctx, "claim lanes", `
			UPDATE consumed SET holder = ?, held_until = `+tx.dialect.nowMS+` + ?
			WHERE consumer = ? AND (holder = ? OR held_until <= `+tx.dialect.nowMS+`)`,
			holder, lease.Milliseconds(), consumer, holder)
		if err != nil {
			return nil, err
		}
		var lanes []LanePosition
		err = tx.all(ctx, "read positions", &lanes,
			`SELECT lane, position, holder FROM consumed WHERE consumer = ? ORDER BY lane`, consumer)
		if err != nil {
			return nil, err
		}
		if len(lanes) >= tx.lanes {
			return heldBy(holder, lanes), nil
		}
		if err := tx.addConsumer(ctx, consumer); err != nil {
			return nil, err
		}
	}
}

func heldBy(holder string, lanes []LanePosition) []LanePosition {
	held := lanes[:0]
	for _, l := range lanes {
		if l.Holder == holder {
			held = append(held, l)
		}
	}
	return held
}

// addConsumer writes the consumer's rows that are not there yet, held by nobody.
func (tx *Tx) addConsumer(ctx context.Context, consumer string) error {
	rows, args := make([]string, tx.lanes), make([]any, tx.lanes)
	for lane := range tx.lanes {
		rows[lane] = "(?, " + strconv.Itoa(lane) + ", 0, '', 0)"
		args[lane] = consumer
	}
	return tx.exec(ctx, "add consumer", `
		INSERT INTO consumed (consumer, lane, position, holder, held_until) VALUES `+strings.Join(rows, ", ")+` `+
		tx.dialect.onConflict("consumer, lane")+`position = position`, args...)
}

// AdvanceLane moves the consumer's position in a lane, if it is where the caller thinks
// and the lane is still the holder's; else it changes nothing and answers false. Reads the
// primary key.
func (tx *Tx) AdvanceLane(ctx context.Context, consumer, holder string, lane int, from, to int64) (bool, error) {
	var now LanePosition
	err := tx.get(ctx, "read position", &now, `
		SELECT lane, position, holder FROM consumed WHERE consumer = ? AND lane = ?`+tx.dialect.forUpdate, consumer, lane)
	if err != nil || now.Position != from || now.Holder != holder {
		return false, err
	}
	return true, tx.exec(ctx, "move position",
		`UPDATE consumed SET position = ? WHERE consumer = ? AND lane = ?`, to, consumer, lane)
}

// ReleaseLanes ends what the holder has, so that another need not wait for the end of the
// lease. Reads the primary key.
func (tx *Tx) ReleaseLanes(ctx context.Context, consumer, holder string) error {
	return tx.exec(ctx, "release lanes",
		`UPDATE consumed SET holder = '', held_until = 0 WHERE consumer = ? AND holder = ?`, consumer, holder)
}

// PassedLanes is, by lane, the number that every consumer has passed; empty where there is
// no consumer. Consumers of other binaries count, since their rows do. Reads all of
// consumed, a row for each consumer and lane.
func (q *queries) PassedLanes(ctx context.Context) (map[int]int64, error) {
	var rows []LanePosition
	err := q.all(ctx, "read what is passed", &rows,
		`SELECT lane, MIN(position) AS position, '' AS holder FROM consumed GROUP BY lane`)
	passed := make(map[int]int64, len(rows))
	for _, r := range rows {
		passed[r.Lane] = r.Position
	}
	return passed, err
}

// ConsumerState is what an operator sees of a consumer.
type ConsumerState struct {
	Consumer    string `db:"consumer"`
	Behind      int64  `db:"behind"`       // events of all lanes that it has not passed
	DeadLetters int64  `db:"dead_letters"` // events that it could not take
}

// ConsumerStates reads the state of every consumer, by name. Reads all of consumed, and
// the index dead_letter_event.
func (q *queries) ConsumerStates(ctx context.Context) ([]ConsumerState, error) {
	var states []ConsumerState
	err := q.all(ctx, "read consumers", &states, `
		SELECT c.consumer, SUM(l.seq - c.position) AS behind,
			(SELECT COUNT(*) FROM dead_letter d WHERE d.consumer = c.consumer) AS dead_letters
		FROM consumed c JOIN lane l ON l.lane = c.lane GROUP BY c.consumer ORDER BY c.consumer`)
	return states, err
}
