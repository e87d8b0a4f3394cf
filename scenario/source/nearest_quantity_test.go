package source

import (
	"testing"
	"time"
)

func TestNearestQuantity(t *testing.T) {
	for text, want := range map[string]string{
		"10 s": "10s", "10sec": "10s", "5 minutes": "5m", "1.5 hours": "1.5h", "5 msec": "5ms",
		".5ms": "0.5ms", "100/mins": "100/min",
		"10 S":   "10s",
		"100rps": "100/s", "100 rps": "100/s", "100/sec": "100/s", "100 / s": "100/s",
		"100 requests/s": "100/s",
		"100 per second": "100/s",
		"6/m":            "6/min", "3 rpm": "3/min",
		"1,000 requests": "1000 requests", "1_000 requests": "1000 requests", "1000requests": "1000 requests",
		"5 reqests": "5 requests",
		"64mib":     "64MiB", "64 bytes": "64B", "5 percent": "5%", "1_000": "1000",
		"10s": "", "100/s": "", "5%": "", "1000 requests": "", "64MiB": "",
		"": "", "s": "", ".": "", "1d": "", "1,5s": "", "1,00 requests": "", "1__0s": "", "5 apples": "",
		"5/day": "", "soon": "", "-5s": "",
	} {
		if got := NearestQuantity(text); got != want {
			t.Errorf("NearestQuantity(%q) = %q, want %q", text, got, want)
		}
	}
}

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
