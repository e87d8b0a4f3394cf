package source

import (
	"regexp"
	"strings"
	"time"
)

// DurationPattern is the grammar of a duration: numbers with units, spaces before units and between
// the parts.
//
//	duration = part *( *" " part )
//	part     = decimal *" " ( "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "min" | "h" )
const (
	DurationPattern = durationPart + `( *` + durationPart + `)*`
	durationPart    = `[0-9]+(\.[0-9]+)? *(ns|us|µs|μs|ms|s|min|m|h)`
)

var durationForm = regexp.MustCompile(`^(` + DurationPattern + `)$`)

// IsDuration reports whether a text is written as a duration is, however long that is.
func IsDuration(text string) bool { return durationForm.MatchString(text) }

// ParseDuration reads a duration as plans write it: 50ms, 1.5 s, 1h30min. False: it is none, or too
// long for the type.
func ParseDuration(text string) (time.Duration, bool) {
	if !IsDuration(text) {
		return 0, false
	}
	d, err := time.ParseDuration(strings.NewReplacer(" ", "", "min", "m").Replace(text))
	return d, err == nil
}

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
