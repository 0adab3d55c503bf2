package socialtest

import (
	"net"
	"strconv"
	"syscall"
	"testing"
)

// heldAddress is a free address of loopback that is the caller's until the test ends, also
// while nothing listens there: a server that is killed finds it free again. A socket that
// is bound and never listens holds it. The kernel gives its port to nobody who asks for
// any, and lets those listen who name it with SO_REUSEADDR, as Go and Redis do.
func heldAddress(t testing.TB) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	must(t, syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	must(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	at, err := syscall.Getsockname(fd)
	must(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(at.(*syscall.SockaddrInet4).Port))
}

// dieWithParent kills the process when the thread that started it ends, and so in any case
// when this process does.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
