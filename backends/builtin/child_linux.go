package builtin

import "syscall"

// childAttr makes the kernel kill the child when the parent dies, and shields it from a terminal's
// interrupt: the parent drains first and then ends the child itself.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
