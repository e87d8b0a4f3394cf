//go:build !linux

package builtin

import "syscall"

// childAttr returns nil: without a parent-death signal only the closed stdin ends the child.
func childAttr() *syscall.SysProcAttr { return nil }
