package source

import "testing"

func TestNearestQuantity(t *testing.T) {
	for text, want := range map[string]string{
		"10 s": "10s", "10sec": "10s", "5 minutes": "5m", "1.5 hours": "1.5h", "5 msec": "5ms", ".5ms": "0.5ms",
		"10 S":   "10s",
		"100rps": "100/s", "100 rps": "100/s", "100/sec": "100/s", "100 / s": "100/s", "100 requests/s": "100/s",
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
