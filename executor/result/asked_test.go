package result

import "testing"

func TestAsked(t *testing.T) {
	const that = "latency.p95 < 60ms"
	for want, a := range map[string]Assertion{
		that:                    {},
		that + ", every 500 ms": {Every: 0.5},
		that + ", at 95 %":      {Confidence: 0.95},
		that + ", within 10 s":  {Within: 10},
		that + ", every 60 s, 5 % may be false, within 10 s, at 99 %": {
			Every: 60, Allow: 0.05, Within: 10,
			Confidence: 0.99,
		},
	} {
		a.That = that
		if got := a.Statement(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
