package socialtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// process is a server that a test runs, and kills and starts again in its folder.
type process struct {
	command string
	args    []string
	dir     string // of all its files; it survives kill

	process *os.Process
	ended   chan struct{} // closed when the process has ended; nil before the first starts
}

func (p *process) runs() bool {
	if p.ended == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// launch starts the process. The thread that starts it lives as long as it does, since the
// system takes that thread's end for the parent's.
func (p *process) launch(t testing.TB) {
	t.Helper()
	if p.runs() {
		return
	}
	log, err := os.OpenFile(p.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer func() { _ = log.Close() }()
	cmd := exec.Command(p.command, p.args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, dieWithParent()
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("%v: run the tests by make test", err)
	}
	p.process, p.ended = cmd.Process, ended
}

// kill also ends what is frozen: SIGKILL needs nobody awake.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if !p.runs() {
		return
	}
	if err := p.process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		must(t, err)
	}
	<-p.ended
}

func (p *process) file(name string) string { return filepath.Join(p.dir, name) }

// log is the end of what the server said.
func (p *process) log() string {
	b, _ := os.ReadFile(p.file("log"))
	lines := strings.Split(string(b), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
