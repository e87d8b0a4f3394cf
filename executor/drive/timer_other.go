//go:build !linux

package drive

import (
	"runtime"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
)

// sharpTimer does nothing outside Linux.
func sharpTimer() (restore func()) { return func() {} }

// threadSleep sleeps about ns.
func threadSleep(ns int64) { time.Sleep(time.Duration(ns)) }

// StayAwake does nothing outside Linux.
func StayAwake(int) (stop func()) { return func() {} }

// Heartbeat records in log that this process runs, until stop is called. What comes too late shows a
// pause.
func Heartbeat(clock backends.Clock, log *delay.Log) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ticker := time.NewTicker(time.Duration(delay.BeatEvery))
		defer ticker.Stop()
		for {
			log.Beat(clock.Now())
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		log.Rest()
	}
}

// addProcessor does nothing outside Linux, where threadSleep keeps none.
func addProcessor() (remove func()) { return func() {} }

// shortTimer ends short pauses; outside Linux with the runtime's timers.
type shortTimer struct{}

func newShortTimer() *shortTimer    { return &shortTimer{} }
func (a *shortTimer) wait(ns int64) { time.Sleep(time.Duration(ns)) }
func (a *shortTimer) close()        {}
