//go:build !linux

package builtin

import "syscall"

// childAttr is empty where there is no parent-death signal: the closed stdin alone ends the child.
func childAttr() *syscall.SysProcAttr { return nil }
