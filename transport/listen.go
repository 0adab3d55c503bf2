package transport

import (
	"context"
	"net"
	"syscall"
	"time"
)

// maxUnanswered is for how long a peer may leave unacknowledged what it was sent.
const maxUnanswered = 15 * time.Second

// Listen is net.Listen, for connections whose peer is taken for dead when it has not
// acknowledged what it was sent for 15 s, where the system can tell: so a stream of events
// whose client has vanished ends within 30 s. Elsewhere it ends once the system gives up.
func Listen(ctx context.Context, network, address string) (net.Listener, error) {
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) { failed = limitUnanswered(fd) })
		if err != nil {
			return err
		}
		return failed
	}}
	return c.Listen(ctx, network, address)
}
