package expression

import (
	"math"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Literals have the units of the plan's own values.
//
//	duration = part *( *" " part )
//	part     = decimal *" " ( "ns" | "us" | "µs" | "ms" | "s" | "m" | "min" | "h" )
//	rate     = decimal *" " [ size unit *" " ] "/" ( "s" | "min" | "h" )
//	ratio    = decimal *" " "%"
//	size     = decimal *" " ( "B" | "kB" | "KB" | "MB" | "GB" | "KiB" | "MiB" | "GiB" )
//	power    = decimal *" " ( "mW" | "W" | "kW" )
//	decimal  = 1*digit [ "." 1*digit ] [ "e" [ "+" | "-" ] 1*digit ]

// unitOf returns the dimension of a unit and its size in base units; 0 for a word that is no unit.
func unitOf(word string) (metric.Dim, float64) {
	switch word {
	case "ns":
		return metric.Duration, 1e-9
	case "us", "µs", "μs":
		return metric.Duration, 1e-6
	case "ms":
		return metric.Duration, 1e-3
	case "s":
		return metric.Duration, 1
	case "m", "min":
		return metric.Duration, 60
	case "h":
		return metric.Duration, 3600
	case "B":
		return metric.Bytes, 1
	case "kB", "KB":
		return metric.Bytes, 1e3
	case "MB":
		return metric.Bytes, 1e6
	case "GB":
		return metric.Bytes, 1e9
	case "KiB":
		return metric.Bytes, 1 << 10
	case "MiB":
		return metric.Bytes, 1 << 20
	case "GiB":
		return metric.Bytes, 1 << 30
	case "mW":
		return metric.Power, 1e-3
	case "W":
		return metric.Power, 1
	case "kW":
		return metric.Power, 1e3
	}
	return 0, 0
}

// units lists the words that are offered where a unit is unknown.
func units() []string {
	return strings.Fields("ns us ms s m min h B kB MB GB KiB MiB GiB mW W kW")
}

// perUnit returns the seconds of the time that a rate is per, and of words that are near it the
// unit to write.
func perUnit(word string) (seconds float64, nearest string) {
	switch word {
	case "s":
		return 1, ""
	case "min":
		return 60, ""
	case "h":
		return 3600, ""
	case "sec", "second", "seconds":
		return 0, "s"
	case "m", "minute", "minutes":
		return 0, "min"
	case "hour", "hours":
		return 0, "h"
	}
	return 0, ""
}

// scaled returns number times unit, by division where that is exact: 50/1000 is 0.05, while
// 50*0.001 is not. Limits must be the nearest float to the text, because `<` and `==` see
// the last bit.
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
	return v, finite(v)
}

// Literal reads one literal that is alone in text, with or without a sign, as the value of a
// variable is. The value is in base units.
func Literal(text string) (d metric.Dim, v float64, ok bool) {
	body, negative := strings.CutPrefix(strings.TrimSpace(text), "-")
	s := scanner{report: report{text: []rune(body)}, single: true}
	s.number()
	if len(s.found) > 0 || len(s.tokens) != 1 || s.at != len(s.text) {
		return 0, 0, false
	}
	t := s.tokens[0]
	if negative {
		t.value = -t.value
	}
	return t.dim, t.value, true
}

// nearestLiteral returns the literal that was likely meant by text; "" where there is none.
func nearestLiteral(text string) string {
	meant := source.NearestQuantity(text)
	if _, _, ok := Literal(meant); !ok {
		return ""
	}
	return meant
}

const literalForms = "literals are written 50ms, 200/s, 0.1% or 64MiB"

// number reads a literal with its unit.
func (s *scanner) number() {
	from := s.at
	digits := s.decimal()
	if digits == "" {
		s.at = max(s.at, min(from+1, len(s.text)))
		s.skip(isLiteralPart)
		s.propose(from, source.Diagnostic{Code: codeLiteral, Summary: "a number begins with a digit"})
		return
	}
	if s.missingPercentile(digits) {
		return
	}
	t := token{kind: literalToken, dim: metric.Number}
	factor := 1.0
	switch unit := s.unit(); {
	case unit == "" && s.percent():
		t.dim, factor = metric.Ratio, 0.01
	case unit == "":
	default:
		if t.dim, factor = unitOf(unit); t.dim == 0 {
			s.unknownUnit(from, unit)
			return
		}
	}
	var ok bool
	switch t.value, ok = scaled(digits, factor); {
	case t.dim == metric.Duration:
		ok = s.duration(from, &t, ok, factor)
	case !ok:
		s.refuse(from, codeLiteral, "this number is too large: a number must be finite", "")
	case t.dim == metric.Number || t.dim == metric.Bytes:
		ok = s.rate(from, &t)
	}
	if ok {
		s.add(from, t)
	}
}

// decimal reads the digits of a number with a point and an exponent; "" where it does not begin
// with a digit.
func (s *scanner) decimal() string {
	from := s.at
	if s.take(isDigit) == "" {
		return ""
	}
	if s.peek(0) == '.' && isDigit(s.peek(1)) {
		s.at++
		s.skip(isDigit)
	}
	if e := s.peek(0); e == 'e' || e == 'E' {
		skip := 1
		if sign := s.peek(1); sign == '+' || sign == '-' {
			skip = 2
		}
		if isDigit(s.peek(skip)) {
			s.at += skip
			s.skip(isDigit)
		}
	}
	return string(s.text[from:s.at])
}

// unit reads the letters after a number; after spaces only a word that is a unit and no function or
// metric.
func (s *scanner) unit() string {
	if u := s.take(isLetter); u != "" {
		return u
	}
	from := s.at
	s.spaces()
	word := s.take(isLetter)
	next := s.peek(0)
	if dim, _ := unitOf(word); dim == 0 || isDigit(next) || next == '(' || next == '.' {
		s.at = from
		return ""
	}
	return word
}

func (s *scanner) unknownUnit(from int, unit string) {
	s.skip(isLetterOrDigit)
	summary := "unknown unit " + unit
	if unit[0] == '_' {
		summary = "a number has no _ in it"
	}
	s.propose(from, source.Diagnostic{
		Code: codeLiteral, Summary: summary, Detail: literalForms,
		Allowed: units(), Nearest: source.Nearest(unit, units()),
	})
}

// percent reads a % after a number, and the spaces before it.
func (s *scanner) percent() bool {
	from := s.at
	if s.spaces(); s.peek(0) == '%' {
		s.at++
		return true
	}
	s.at = from
	return false
}

// duration reads the rest of a duration, whose first part has the unit last: 1h30m, 1 h 30 min. It
// returns false where it reported a mistake.
func (s *scanner) duration(from int, t *token, ok bool, last float64) bool {
	for ok {
		before := s.at
		glued := isDigit(s.peek(0))
		s.spaces()
		digits := s.decimal()
		unit := s.unit()
		dim, factor := unitOf(unit)
		fits := dim == metric.Duration && factor < last
		if !fits && !glued {
			s.at = before
			return true
		}
		var part float64
		part, ok = scaled(digits, factor)
		ok = ok && fits
		t.value, last = t.value+part, factor
	}
	s.skip(isLetterOrDigit)
	s.refuse(from, codeLiteral, "this is not a duration",
		"a duration is a number with a unit, such as 50ms, 1.5s, 2m or 1h30m")
	return false
}

// rate makes 500/s, 500 /s and 10MB/s a rate, and leaves 1/latency.mean alone. It returns false
// where it reported a mistake.
func (s *scanner) rate(from int, t *token) bool {
	before := s.at
	s.spaces()
	if s.peek(0) != '/' || !isLetter(s.peek(1)) {
		s.at = before
		return true
	}
	s.at++
	unit := s.take(isLetterOrDigit)
	per, nearest := perUnit(unit)
	switch next := s.peek(0); {
	case next == '(' || next == '.' || per == 0 && nearest == "":
		s.at = before // a division by something that has a name
	case per == 0:
		s.problem(span{from, s.at}, source.Diagnostic{
			Code: codeLiteral, Summary: "a rate cannot be per " + unit,
			Detail:  "a rate is a number and a time, such as 200/s, 90/min or 12/h",
			Allowed: []string{"s", "min", "h"}, Nearest: s.part(span{from, before}) + "/" + nearest,
		})
		return false
	default:
		t.dim, t.value = metric.Rate, t.value/per
	}
	return true
}
