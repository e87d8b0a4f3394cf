//go:build !linux

package drive

import "time"

// alarm ends short pauses; outside Linux by the runtime's timers.
type alarm struct{}

func newAlarm() *alarm         { return &alarm{} }
func (a *alarm) wait(ns int64) { time.Sleep(time.Duration(ns)) }
func (a *alarm) close()        {}
