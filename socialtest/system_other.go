//go:build !linux

package socialtest

import (
	"net"
	"syscall"
	"testing"
)

// heldAddress is a free address of loopback. Only Linux can hold it.
func heldAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, l.Close())
	return l.Addr().String()
}

// dieWithParent does nothing: only Linux can.
func dieWithParent() *syscall.SysProcAttr { return nil }
