package db_test

import (
	"flag"
	"os"
	"testing"
)

// Tests here wait for a store more than they compute: more of them at once.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}
