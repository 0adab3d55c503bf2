package social

import (
	"fmt"
	"io"
	"time"
)

// Millis is a point in time: milliseconds since 1970-01-01 UTC. It is the GraphQL
// scalar DateTime, always written with three decimals and Z.
type Millis int64

const millisLayout = `"2006-01-02T15:04:05.000Z"`

// Time is m as a time in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// MarshalGQL writes m as an RFC 3339 string in UTC with milliseconds.
func (m Millis) MarshalGQL(w io.Writer) {
	_, _ = io.WriteString(w, m.Time().Format(millisLayout))
}

// UnmarshalGQL reads an RFC 3339 string; digits beyond milliseconds are cut.
func (m *Millis) UnmarshalGQL(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("a DateTime is a string, not %T", v)
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("a DateTime is written as in RFC 3339")
	}
	*m = Millis(t.UnixMilli())
	return nil
}
