//go:build !linux

package transport

func limitUnanswered(uintptr) error { return nil }
