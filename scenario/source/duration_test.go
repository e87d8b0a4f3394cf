package source

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string][2]string{
		"0s": {"0s", "0s"}, "499.4ms": {"499.4ms", "499ms"}, "1500ms": {"1.5s", "1.5s"},
		"1234567us": {"1.234567s", "1.2s"}, "60s": {"1m", "1m"},
		"61.4s": {"1m1.4s", "1m1s"}, "3600s": {"1h", "1h"}, "3615s": {"1h0m15s", "1h0m15s"},
		"90m": {"1h30m", "1h30m"}, "1ns": {"0s", "0s"}, "10s": {"10s", "10s"},
		"100m": {"1h40m", "1h40m"}, "10h": {"10h", "10h"},
	} {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{Duration(d), About(d)}; got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}
