package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// execute runs a program in a folder and returns what it prints, no more than limit bytes. An error has the
// last line that it wrote to standard error.
func execute(ctx context.Context, folder string, command []string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir, c.WaitDelay = folder, time.Second
	defer ownGroup(c)()
	var last lastLine
	out := &bounded{left: limit, full: func() {
		cancel(fmt.Errorf("it prints more than %d MiB", limit>>20))
	}}
	c.Stdout, c.Stderr = out, &last
	err := c.Run()
	if errors.Is(err, exec.ErrWaitDelay) && c.ProcessState.Success() {
		err = nil // a process that it left behind has its output open
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if text := last.text(); err != nil && text != "" {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return out.Bytes(), err
}

// bounded keeps what is written, up to a number of bytes.
type bounded struct {
	bytes.Buffer
	left int64
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		b.full()
		return 0, errors.New("too much")
	}
	return b.Buffer.Write(p)
}

// lastLine keeps the end of what is written.
type lastLine struct{ end []byte }

const keptOfErrors = 1 << 10

func (l *lastLine) Write(p []byte) (int, error) {
	l.end = append(l.end, p[max(0, len(p)-keptOfErrors):]...)
	l.end = l.end[max(0, len(l.end)-keptOfErrors):]
	return len(p), nil
}

// text returns the last line that is not empty.
func (l *lastLine) text() string {
	lines := strings.Split(strings.TrimSpace(string(l.end)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
