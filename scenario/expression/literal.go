package expression

import (
	"math"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Units of literals, in base units. They are those of the plan's own values.
//
//	duration = part *( *" " part )
//	part     = decimal *" " ( "ns" | "us" | "µs" | "ms" | "s" | "m" | "min" | "h" )
//	rate     = decimal *" " [ size unit *" " ] "/" ( "s" | "min" | "h" )
//	ratio    = decimal *" " "%"
//	size     = decimal *" " ( "B" | "kB" | "KB" | "MB" | "GB" | "KiB" | "MiB" | "GiB" )
//	power    = decimal *" " ( "mW" | "W" | "kW" )
//	decimal  = 1*digit [ "." 1*digit ] [ "e" [ "+" | "-" ] 1*digit ]

func durationUnit(u string) float64 {
	switch u {
	case "ns":
		return 1e-9
	case "us", "µs", "μs":
		return 1e-6
	case "ms":
		return 1e-3
	case "s":
		return 1
	case "m", "min":
		return 60
	case "h":
		return 3600
	}
	return 0
}

func sizeUnit(u string) float64 {
	switch u {
	case "B":
		return 1
	case "kB", "KB":
		return 1e3
	case "MB":
		return 1e6
	case "GB":
		return 1e9
	case "KiB":
		return 1 << 10
	case "MiB":
		return 1 << 20
	case "GiB":
		return 1 << 30
	}
	return 0
}

func powerUnit(u string) float64 {
	switch u {
	case "mW":
		return 1e-3
	case "W":
		return 1
	case "kW":
		return 1e3
	}
	return 0
}

func perUnit(u string) float64 {
	switch u {
	case "s":
		return 1
	case "min":
		return 60
	case "h":
		return 3600
	}
	return 0
}

// isUnit reports whether a word is the unit of a duration, a size or a power.
func isUnit(word string) bool { return durationUnit(word)+sizeUnit(word)+powerUnit(word) != 0 }

// units are the words offered where a unit is unknown.
func units() []string {
	return []string{"ns", "us", "ms", "s", "m", "min", "h", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "mW", "W", "kW"}
}

// scaled is number times unit, by division where that is exact: 50/1000 is 0.05, while 50*0.001 is not. Limits must be the nearest float to
// what was written, because `<` and `==` see the last bit.
func scaled(number string, unit float64) (float64, bool) {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, false
	}
	if unit < 1 {
		v /= math.Round(1 / unit)
	} else {
		v *= unit
	}
	return v, !math.IsInf(v, 0) && !math.IsNaN(v)
}

// nearestLiteral is the literal that was likely meant by one that is not written so; "" is none.
func nearestLiteral(s string) string {
	meant := source.NearestQuantity(s)
	if _, _, ok := parseLiteral(meant); !ok {
		return ""
	}
	return meant
}

// Literal reads one literal of an expression that stands alone: a number with or without a unit, in its base unit.
func Literal(text string) (d metric.Dim, v float64, ok bool) { return parseLiteral(text) }

// parseLiteral reads one literal that stands alone, as a variable's value does: it may have a sign.
func parseLiteral(s string) (metric.Dim, float64, bool) {
	body, negative := strings.CutPrefix(strings.TrimSpace(s), "-")
	l := lexer{text: []rune(body), alone: true}
	l.number()
	if len(l.problems) > 0 || len(l.tokens) != 1 || l.at != len(l.text) {
		return 0, 0, false
	}
	t := l.tokens[0]
	if negative {
		t.value = -t.value
	}
	return t.dim, t.value, true
}
