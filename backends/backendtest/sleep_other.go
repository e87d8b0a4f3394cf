//go:build !linux

package backendtest

import "time"

func sleep(d time.Duration) { time.Sleep(d) }
