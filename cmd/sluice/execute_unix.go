//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a program a process group, which is killed as a whole: with its context, and by end, so that
// no process that it started outlives it.
func ownGroup(c *exec.Cmd) (end func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.Cancel = kill
	return func() {
		if c.Process != nil {
			_ = kill() // mostly there is none left
		}
	}
}
