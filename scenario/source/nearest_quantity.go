package source

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	loose   = regexp.MustCompile(`^([0-9][0-9_,]*)?(\.[0-9]+)?\s*(.*)$`)
	grouped = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)
	digits  = regexp.MustCompile(`^[0-9]+(_[0-9]+)*$`)
)

// NearestQuantity is how a number with a unit was likely meant that is not written as quantities are:
// "10 sec" is 10s, "100rps" is 100/s, "1,000 requests" is 1000 requests, ".5ms" is 0.5ms. "" is none,
// or that it is written so already. Whether such a unit fits the key is for the caller to
// see.
func NearestQuantity(text string) string {
	m := loose.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[1]+m[2] == "" {
		return ""
	}
	whole := m[1]
	switch {
	case whole == "":
		whole = "0"
	case grouped.MatchString(whole), digits.MatchString(whole):
		whole = strings.NewReplacer(",", "", "_", "").Replace(whole)
	default:
		return ""
	}
	word := strings.Join(strings.Fields(m[3]), " ")
	if thousands := times(word); thousands > 1 {
		if v, err := strconv.ParseFloat(whole+m[2], 64); err == nil {
			whole, m[2], word = strconv.FormatFloat(v*thousands, 'f', -1, 64), "", strings.TrimSpace(word[1:])
		}
	}
	unit, ok := nearestUnit(word)
	if meant := whole + m[2] + unit; ok && meant != text {
		return meant
	}
	return ""
}

// times is the factor of a letter after a number: 1k/s, 5K requests, 2M. 1: there is none.
func times(word string) float64 {
	if len(word) > 1 && word[1] != '/' && word[1] != ' ' {
		return 1
	}
	switch {
	case strings.HasPrefix(word, "k"), strings.HasPrefix(word, "K"):
		return 1e3
	case strings.HasPrefix(word, "M"):
		return 1e6
	}
	return 1
}

// nearestUnit returns the unit that a word means, as it follows its number.
func nearestUnit(word string) (unit string, ok bool) {
	lower := strings.ToLower(word)
	if over, per, found := strings.Cut(lower, "/"); found {
		switch strings.TrimSpace(over) {
		case "", "r", "req", "reqs", "request", "requests":
			return perUnit(strings.TrimSpace(per))
		}
		return "", false
	}
	if per, found := strings.CutPrefix(lower, "per "); found {
		return perUnit(per)
	}
	for _, units := range [...][]string{
		{""},
		{"ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds"},
		{"us", "µs", "μs", "usec", "usecs", "micro", "micros", "microsecond", "microseconds"},
		{"ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"},
		{"s", "sec", "secs", "second", "seconds"},
		{"m", "min", "mins", "minute", "minutes"},
		{"h", "hr", "hrs", "hour", "hours"},
		{"/s", "rps", "qps", "tps", "hz"},
		{"/min", "rpm", "qpm"},
		{"%", "percent", "pct"},
		{"B", "b", "byte", "bytes"},
		{"kB", "kb"},
		{"MB", "mb"},
		{"GB", "gb"},
		{"KiB", "kib"},
		{"MiB", "mib"},
		{"GiB", "gib"},
		{"W", "w", "watt", "watts"},
		{"kW", "kw", "kilowatt", "kilowatts"},
		{"mW", "milliwatt", "milliwatts"},
		{"J", "j", "joule", "joules"},
		{"kJ", "kj", "kilojoule", "kilojoules"},
		{"mJ", "mj", "millijoule", "millijoules"},
		{" requests", "r", "req", "reqs", "request", "requests"},
	} {
		if slices.Contains(units, lower) || slices.Contains(units, word) {
			return units[0], true
		}
	}
	if Nearest(lower, []string{"requests"}) != "" {
		return " requests", true
	}
	return "", false
}

// perUnit is how a rate ends whose time is written as a word.
func perUnit(word string) (string, bool) {
	unit, _ := nearestUnit(word)
	per, ok := map[string]string{"s": "/s", "m": "/min", "h": "/h"}[unit]
	return per, ok
}
