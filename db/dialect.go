package db

import (
	"strconv"
	"strings"

	"kith/social"
)

// dialect is what differs between the stores in the text of a statement.
type dialect struct {
	name string // goose's name, and the folder of the migrations

	// forUpdate ends a reading that locks its rows.
	forUpdate string
	// excluded names the new value of a column in an upsert.
	excluded func(column string) string
	// onConflict begins the second half of an upsert on the primary key.
	onConflict func(key string) string
	// tuples writes the right side of (a, b, ...) IN (...).
	tuples func(width int, rows string) string
	// index makes the planner take an index; its guess over a thousand authors is a scan.
	index func(name string) string
	// joinInOrder joins so that the left side is read first.
	joinInOrder string
	// nowMS is the store's own clock in milliseconds since 1970.
	nowMS string
}

func sqliteDialect() *dialect {
	return &dialect{
		name:        "sqlite",
		forUpdate:   "", // BEGIN IMMEDIATE holds the only write lock there is
		excluded:    func(column string) string { return "excluded." + column },
		onConflict:  func(key string) string { return "ON CONFLICT (" + key + ") DO UPDATE SET " },
		tuples:      func(_ int, rows string) string { return "VALUES " + rows },
		index:       func(name string) string { return "INDEXED BY " + name },
		joinInOrder: "CROSS JOIN",
		nowMS:       "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
	}
}

func mysqlDialect(mariadb bool) *dialect {
	d := &dialect{
		name:        "mysql",
		forUpdate:   " FOR UPDATE",
		excluded:    func(column string) string { return "VALUES(" + column + ")" },
		onConflict:  func(string) string { return "ON DUPLICATE KEY UPDATE " },
		tuples:      func(_ int, rows string) string { return rows },
		index:       func(name string) string { return "FORCE INDEX (" + name + ")" },
		joinInOrder: "STRAIGHT_JOIN",
		nowMS:       "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
	}
	if mariadb {
		// A list of pairs as ranges costs MariaDB the square of its length (800 pairs:
		// 232 ms); as a table of values it is joined (4 ms).
		// Its columns are named after the values of the first row, which must differ: so
		// that row is ours, and matches nothing.
		d.tuples = func(width int, rows string) string { return "VALUES (" + list(upTo(width)) + ")," + rows }
	}
	return d
}

// upTo is 0, 1, ... n-1.
func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// pairs is tuples of two.
func (d *dialect) pairs(rows string) string { return d.tuples(2, rows) }

// MaxIn bounds an IN list: past 1,000 MariaDB makes a join of it.
const MaxIn = 900

// number is anything that stands in SQL as a whole number. Numbers are written into the
// text, since a list of 900 placeholders is slower to send and to bind; text and bytes
// never are.
type number interface {
	~int8 | ~int | ~int64
}

// list writes 1,2,3; NULL, which matches nothing, for none.
func list[T number](ns []T) string {
	if len(ns) == 0 {
		return "NULL"
	}
	b := make([]byte, 0, 20*len(ns))
	for i, n := range ns {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

// rows writes (1,2),(3,4): for each item the numbers that columns appends.
func rows[T any](items []T, columns func(T) []int64) string {
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('(')
		b.WriteString(list(columns(item)))
		b.WriteByte(')')
	}
	return b.String()
}

// bit is a truth as it is stored.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// pairRows writes the ids of edges as rows.
func pairRows(pairs []social.Pair) string {
	return rows(pairs, func(p social.Pair) []int64 { return []int64{int64(p.UserID), int64(p.TargetID)} })
}
