//go:build !linux

package drive

import "time"

// sharpTimer has no equal outside Linux.
func sharpTimer() (restore func()) { return func() {} }

// nap sleeps about ns.
func nap(ns int64) { time.Sleep(time.Duration(ns)) }

// StayAwake has no equal outside Linux.
func StayAwake(int) (asleep func()) { return func() {} }
