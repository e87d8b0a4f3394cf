//go:build inprocess

package inprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/native"
)

// opener returns the Open of a new host.
func opener() (func(context.Context, backends.Target, backends.Clock) (backends.Conn, error), string) {
	return newHost().open, ""
}

// host holds one server per server configuration, shared by all targets that name it.
type host struct {
	mu      sync.Mutex
	servers map[string]*server
	flights *flights
}

func newHost() *host {
	h := &host{servers: map[string]*server{}, flights: new(flights)}
	h.flights.frames.New = func() any { return new(native.Frame) }
	return h
}

// server is a Triton server that runs in this process.
type server struct {
	*library
	handle    uintptr
	allocator uintptr
	flights   *flights // of the host
	users     int      // targets that use it; guarded by the host's lock
	started   chan struct{}
	err       error
}

func (h *host) open(ctx context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
	if t.InProcess == nil {
		return nil, errors.New("the target has no `inprocess`")
	}
	if err := check(t); err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%q %q %v", t.InProcess.ServerDir, t.InProcess.Repository, t.InProcess.Options)
	h.mu.Lock()
	s := h.servers[key]
	if s == nil {
		s = &server{started: make(chan struct{}), flights: h.flights}
		h.servers[key] = s
		go func() {
			defer close(s.started)
			s.err = s.start(t.InProcess)
		}()
	}
	s.users++
	h.mu.Unlock()
	c := &conn{host: h, key: key, server: s, target: t, clock: clock}
	select {
	case <-s.started:
	case <-ctx.Done():
		go func() { <-s.started; _ = h.release(key, s) }()
		return nil, fmt.Errorf("start the server: %w", ctx.Err())
	}
	if s.err != nil {
		return nil, errors.Join(s.err, h.release(key, s))
	}
	return c, nil
}

// release stops the server with its last user.
func (h *host) release(key string, s *server) error {
	h.mu.Lock()
	s.users--
	last := s.users == 0
	if last {
		delete(h.servers, key)
	}
	h.mu.Unlock()
	if !last || s.handle == 0 {
		return nil
	}
	return errors.Join(s.check(native.Call(s.ServerStop, s.handle)), s.check(native.Call(s.ServerDelete,
		s.handle)),
		s.check(native.Call(s.ResponseAllocatorDelete, s.allocator)))
}

// start loads the library and starts a server with the models of its repository.
func (s *server) start(p *backends.InProcess) (err error) {
	if s.library, err = loadLibrary(p.ServerDir); err != nil {
		return err
	}
	s.flights.prepare()
	out := make([]uintptr, 1)
	if err := s.check(native.Call(s.ServerOptionsNew, native.Address(out))); err != nil {
		return err
	}
	o := out[0]
	defer native.Call(s.ServerOptionsDelete, o)
	if err := s.configure(o, p); err != nil {
		return err
	}
	if err := s.check(native.Call(s.ServerNew, native.Address(out), o)); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	s.handle = out[0]
	if err := s.check(native.Call(s.ResponseAllocatorNew, native.Address(out), s.flights.allocated,
		s.flights.discarded, 0)); err != nil {
		return err
	}
	s.allocator = out[0]
	return nil
}

// configure sets the options: first the paths of the server directory and a quiet log, then those
// of the plan.
func (s *server) configure(o uintptr, p *backends.InProcess) error {
	all := []setting{
		{"TRITONSERVER_ServerOptionsSetModelRepositoryPath", []any{p.Repository}},
		{"TRITONSERVER_ServerOptionsSetLogInfo", []any{false}},
		{"TRITONSERVER_ServerOptionsSetLogWarn", []any{false}},
		{"TRITONSERVER_ServerOptionsSetExitOnError", []any{false}},
		{"TRITONSERVER_ServerOptionsSetStrictReadiness", []any{true}},
	}
	for _, f := range [][2]string{
		{"backends", "BackendDirectory"}, {"repoagents", "RepoAgentDirectory"}, {"caches", "CacheDirectory"},
	} {
		dir := filepath.Join(p.ServerDir, f[0])
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			all = append(all, setting{"TRITONSERVER_ServerOptionsSet" + f[1], []any{dir}})
		}
	}
	for _, option := range p.Options {
		calls, err := settings(option)
		if err != nil {
			return err
		}
		all = append(all, calls...)
	}
	for _, call := range all {
		if err := s.set(o, call); err != nil {
			return fmt.Errorf("inprocess.options: %w", err)
		}
	}
	return nil
}

// set calls one setter.
func (s *server) set(o uintptr, call setting) error {
	at, err := s.native.Function(call.function)
	if err != nil {
		return err
	}
	args, texts := []uintptr{o}, [][]byte{}
	for _, a := range call.args {
		switch a := a.(type) {
		case string:
			texts = append(texts, native.Text(a))
			args = append(args, native.Address(texts[len(texts)-1]))
		case bool:
			args = append(args, map[bool]uintptr{true: 1}[a])
		case int64:
			args = append(args, uintptr(a))
		case float64:
			var setFloat func(options uintptr, value float64) uintptr
			native.Bind(&setFloat, at)
			return s.check(setFloat(o, a))
		}
	}
	defer runtime.KeepAlive(texts) // keeps the memory behind args alive during the call
	return s.check(native.Call(at, args...))
}
