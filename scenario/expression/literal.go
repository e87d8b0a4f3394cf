package expression

import (
	"math"
	"slices"
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
//	energy   = decimal *" " ( "mJ" | "J" | "kJ" )
//	decimal  = 1*digit [ "." 1*digit ] [ "e" [ "+" | "-" ] 1*digit ]

// unit is a unit of literals.
type unit struct {
	dim  metric.Dim
	size float64 // in base units
}

var unitOf = map[string]unit{
	"ns": {metric.Duration, 1e-9}, "ms": {metric.Duration, 1e-3},
	"us": {metric.Duration, 1e-6}, "µs": {metric.Duration, 1e-6}, "μs": {metric.Duration, 1e-6},
	"s": {metric.Duration, 1}, "h": {metric.Duration, 3600},
	"m": {metric.Duration, 60}, "min": {metric.Duration, 60},
	"B": {metric.Bytes, 1}, "kB": {metric.Bytes, 1e3}, "KB": {metric.Bytes, 1e3},
	"MB": {metric.Bytes, 1e6}, "GB": {metric.Bytes, 1e9},
	"KiB": {metric.Bytes, 1 << 10}, "MiB": {metric.Bytes, 1 << 20}, "GiB": {metric.Bytes, 1 << 30},
	"mW": {metric.Power, 1e-3}, "W": {metric.Power, 1}, "kW": {metric.Power, 1e3},
	"mJ": {metric.Energy, 1e-3}, "J": {metric.Energy, 1}, "kJ": {metric.Energy, 1e3},
}

// units lists the words that are offered where a unit is unknown.
func units() []string {
	return strings.Fields("ns us ms s m min h B kB MB GB KiB MiB GiB mW W kW mJ J kJ")
}

// rateUnits lists the times that a rate may be per.
func rateUnits() []string { return []string{"s", "min", "h"} }

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
	s := scanner{report: report{text: []rune(body)}}
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
	if meant := source.NearestQuantity(text); meant != "" {
		if _, _, ok := Literal(meant); ok {
			return meant
		}
	}
	return ""
}

const literalForms = "literals are written 50ms, 200/s, 0.1% or 64MiB"

// number reads a literal with its unit.
func (s *scanner) number() {
	from := s.at
	digits := s.decimal()
	if digits == "" {
		s.at = max(s.at, min(from+1, len(s.text)))
		s.skip(isLiteralPart)
		s.propose(from, source.Errorf(codeLiteral, "a number begins with a digit"))
		return
	}
	if s.missingPercentile(digits) {
		return
	}
	u := unit{metric.Number, 1}
	switch word := s.unit(); {
	case word != "":
		if u = unitOf[word]; u.dim == 0 {
			s.unknownUnit(from, word)
			return
		}
	case s.percent():
		u = unit{metric.Ratio, 0.01}
	}
	t := token{kind: literalToken, dim: u.dim}
	var ok bool
	switch t.value, ok = scaled(digits, u.size); {
	case t.dim == metric.Duration:
		ok = s.duration(from, &t, ok, u.size)
	case !ok:
		s.mistake(span{from, s.at}, codeLiteral, "this number is too large: a number must be finite", "")
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
	if unitOf[word].dim == 0 || isDigit(next) || next == '(' || next == '.' {
		s.at = from
		return ""
	}
	return word
}

func (s *scanner) unknownUnit(from int, unit string) {
	s.skip(isLetterOrDigit)
	d := source.Errorf(codeLiteral, "unknown unit %s", unit)
	if unit[0] == '_' {
		d.Summary = "a number has no _ in it"
	}
	s.propose(from, d.Help(literalForms).Among(source.Nearest(unit, units()), units()))
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
		u := unitOf[s.unit()]
		fits := u.dim == metric.Duration && u.size < last
		if !fits && !glued {
			s.at = before
			return true
		}
		var part float64
		part, ok = scaled(digits, u.size)
		ok = ok && fits
		t.value, last = t.value+part, u.size
	}
	s.skip(isLetterOrDigit)
	s.mistake(span{from, s.at}, codeLiteral, "this is not a duration",
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
	word := s.take(isLetterOrDigit)
	switch next := s.peek(0); {
	case next == '(' || next == '.':
		s.at = before // a division by something that has a name
	case slices.Contains(rateUnits(), word):
		t.dim, t.value = metric.Rate, t.value/unitOf[word].size
	default:
		near, known := strings.CutPrefix(source.NearestQuantity("1/"+word), "1")
		if known {
			s.problem(span{from, s.at}, source.Errorf(codeLiteral, "a rate cannot be per %s", word).
				Help("a rate is a number and a time, such as 200/s, 90/min or 12/h").
				Among(s.part(span{from, before})+near, rateUnits()))
			return false
		}
		s.at = before
	}
	return true
}
