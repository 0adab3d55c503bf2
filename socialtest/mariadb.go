package socialtest

import (
	"database/sql"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"kith/db"
)

// MariaDB is a store on a server that belongs to one test alone, which kills it. What it has
// committed is on disk.
type MariaDB struct {
	*Store
	server process
	dsn    string // without a database
}

// NewMariaDB starts one that ends with the test.
func NewMariaDB(t testing.TB) *MariaDB {
	t.Helper()
	addr := heldAddress(t)
	_, port, _ := net.SplitHostPort(addr)
	m := &MariaDB{dsn: "root@tcp(" + addr + ")/"}
	m.server.dir, m.server.command = t.TempDir(), "mariadbd"
	if _, err := exec.LookPath(m.server.command); err != nil {
		m.server.command = "/usr/sbin/mariadbd" // which is not everybody's to find
	}
	data := m.server.file("data")
	// As scripts/mariadb.sh does it.
	install := []string{"--no-defaults", "--datadir=" + data, "--skip-test-db", "--force", "--auth-root-authentication-method=normal"}
	m.server.args = []string{
		"--no-defaults", "--datadir=" + data, "--tmpdir=" + m.server.dir, "--socket=" + m.server.file("socket"), "--pid-file=" + m.server.file("pid"),
		"--bind-address=127.0.0.1", "--port=" + port, "--skip-name-resolve", "--skip-log-bin", "--character-set-server=utf8mb4",
		"--innodb-buffer-pool-size=64M", "--performance-schema=off", "--innodb-flush-log-at-trx-commit=1",
	}
	if os.Getuid() == 0 {
		install, m.server.args = append(install, "--user=root"), append(m.server.args, "--user=root")
	}
	if out, err := exec.CommandContext(t.Context(), "mariadb-install-db", install...).CombinedOutput(); err != nil {
		t.Fatalf("%v: run the tests by make test\n%s", err, out)
	}
	t.Cleanup(func() { m.server.kill(t) })
	m.Start(t)
	admin := connect(t, "mysql", m.dsn)
	admin.MustExec("CREATE DATABASE kith CHARACTER SET utf8mb4")
	m.Store = newStore(t, db.Config{MySQL: m.dsn + "kith"}, connect(t, "mysql", m.dsn+"kith"))
	return m
}

// Kill kills by SIGKILL.
func (m *MariaDB) Kill(t testing.TB) { t.Helper(); m.server.kill(t) }

// Start starts it after it was killed, where it was, and returns once it answers.
func (m *MariaDB) Start(t testing.TB) {
	t.Helper()
	m.server.launch(t)
	cfg, err := mysql.ParseDSN(m.dsn)
	must(t, err)
	cfg.Logger = &mysql.NopLogger{} // of what refuses connections for now
	quiet, err := mysql.NewConnector(cfg)
	must(t, err)
	raw := sql.OpenDB(quiet)
	defer func() { _ = raw.Close() }()
	deadline := time.After(30 * time.Second)
	for raw.PingContext(t.Context()) != nil {
		select {
		case <-m.server.ended:
			t.Fatalf("mariadbd ended:\n%s", m.server.log())
		case <-deadline:
			t.Fatalf("mariadbd does not answer:\n%s", m.server.log())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
