package source

import (
	"strings"
	"time"
)

// Duration is a duration as people write it in a plan: 2m and 1h, not 2m0s and 1h0m0s; to a microsecond.
func Duration(d time.Duration) string {
	text := d.Round(time.Microsecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// About is a measured duration with as much as matters of it: 12m5s, 3.2s, 499ms.
func About(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return Duration(d.Round(time.Second))
	case d >= time.Second:
		return Duration(d.Round(100 * time.Millisecond))
	}
	return Duration(d.Round(time.Millisecond))
}
