package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Protocol between parent and child process:
//
//	parent → stdin    one JSON Config and nothing else; the pipe stays open as long as the parent lives
//	child  → stdout   one line: {"http": …, "grpc": …, "control": …} when it listens, or {"error": …}
//	parent            closes stdin (or dies, which closes it too): the child ends

// reply is the line that a child prints.
type reply struct {
	URLs
	Error string `json:"error,omitempty"`
}

// startLimit bounds the time until a child listens.
const startLimit = 30 * time.Second

// stopLimit bounds the time until a child ends after its stdin was closed; then it is killed.
const stopLimit = 5 * time.Second

// Main runs a child process: it reads a Config from in, prints one line of JSON with the URLs on
// out as soon as it listens, and serves until in ends or ctx is done.
func Main(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := startFrom(ctx, in)
	if err != nil {
		_ = json.NewEncoder(out).Encode(reply{Error: err.Error()})
		return err
	}
	if err := json.NewEncoder(out).Encode(reply{URLs: s.URLs()}); err != nil {
		return errors.Join(fmt.Errorf("print where the server is: %w", err), s.Close())
	}
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	<-ctx.Done()
	return s.Close()
}

func startFrom(ctx context.Context, in io.Reader) (*Server, error) {
	var c Config
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("read the server's configuration: %w", err)
	}
	return Start(ctx, c)
}

// Child is a server in a process of its own, and the pipes to it.
type Child struct {
	URLs
	cmd    *exec.Cmd
	cancel context.CancelFunc // asks the process to end
	asked  atomic.Bool        // it was asked to: its end is expected
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr tail
	exited chan struct{} // closed when the process has been waited for
}

// Spawn runs exe with args, which must call Main with the process's stdin and stdout, and waits
// until it listens. The child also ends when ctx is done, and when this process dies for whatever
// reason: its stdin is closed, and it is killed if it does not react.
func Spawn(ctx context.Context, exe string, args []string, c Config) (*Child, error) {
	config, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write the server's configuration: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &Child{cmd: exec.CommandContext(ctx, exe, args...), cancel: cancel, exited: make(chan struct{})}
	p.cmd.WaitDelay = stopLimit // also for a process that inherited its stderr
	p.cmd.Cancel = func() error {
		p.asked.Store(true)
		return p.stdin.Close()
	}
	if err := p.start(); err != nil {
		cancel()
		return nil, fmt.Errorf("start the embedded server: %w", err)
	}
	if err := p.awaitReady(config); err != nil {
		return nil, errors.Join(fmt.Errorf("start the embedded server: %w", err), p.Stop())
	}
	return p, nil
}

// start runs the process from a thread that lives as long as the process: the kernel's parent-death
// signal follows the thread that forked, not the process.
func (p *Child) start() error {
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	var w *os.File
	if p.stdout, w, err = os.Pipe(); err != nil {
		return err
	}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = w, &p.stderr, childAttr()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
		close(p.exited)
	}()
	err = <-started
	w.Close()
	if err != nil {
		p.stdout.Close()
	}
	return err
}

// awaitReady sends the configuration and reads the URLs of the child.
func (p *Child) awaitReady(config []byte) error {
	late := time.AfterFunc(startLimit, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	// Further output is read and dropped: a closed pipe would kill the child.
	defer func() {
		go func() {
			_, _ = io.Copy(io.Discard, p.stdout)
			p.stdout.Close()
		}()
	}()
	if _, err := p.stdin.Write(append(config, '\n')); err != nil {
		return p.explain(fmt.Errorf("hand over the configuration: %w", err))
	}
	line, err := bufio.NewReaderSize(io.LimitReader(p.stdout, 1<<20), 4096).ReadBytes('\n')
	if err != nil && !late.Stop() {
		return p.explain(fmt.Errorf("it did not start listening within %v and was killed", startLimit))
	}
	if err != nil {
		return p.explain(fmt.Errorf("it ended before it started listening: %w", err))
	}
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return p.explain(fmt.Errorf("its first line %q is not its address: %w", bytes.TrimSpace(line), err))
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	p.URLs = r.URLs
	return nil
}

// explain ends the child and adds its error output, which is complete only then.
func (p *Child) explain(err error) error {
	err = errors.Join(err, p.Stop())
	if text := p.stderr.String(); text != "" {
		return fmt.Errorf("%w; it said: %s", err, text)
	}
	return err
}

// Stop ends the child and returns after its end. It may be called more than once.
func (p *Child) Stop() error {
	p.cancel()
	<-p.exited
	if p.asked.Load() && !p.cmd.ProcessState.Exited() {
		return fmt.Errorf("the embedded server did not end within %v and was killed", stopLimit)
	}
	return nil
}

// Ended describes how the child ended by itself, as "signal: killed" or "exit status 2"; "" while
// it runs, and after Stop.
func (p *Child) Ended() string {
	select {
	case <-p.exited:
	default:
		return ""
	}
	if p.asked.Load() {
		return ""
	}
	return p.cmd.ProcessState.String()
}

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// tailSize is enough for an error and the top of a stack trace.
const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
