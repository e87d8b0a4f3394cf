//go:build !linux

package drive

import "time"

// sharpTimer does nothing outside Linux.
func sharpTimer() (restore func()) { return func() {} }

// threadSleep sleeps about ns.
func threadSleep(ns int64) { time.Sleep(time.Duration(ns)) }

// StayAwake does nothing outside Linux.
func StayAwake(int) (stop func()) { return func() {} }

// shortTimer ends short pauses; outside Linux with the runtime's timers.
type shortTimer struct{}

func newShortTimer() *shortTimer    { return &shortTimer{} }
func (a *shortTimer) wait(ns int64) { time.Sleep(time.Duration(ns)) }
func (a *shortTimer) close()        {}
