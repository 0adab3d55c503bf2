package transport

import "golang.org/x/sys/unix"

// limitUnanswered is inherited by the connections that a listening socket takes.
func limitUnanswered(fd uintptr) error {
	return unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(maxUnanswered.Milliseconds()))
}
