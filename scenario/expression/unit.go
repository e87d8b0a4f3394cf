package expression

import "github.com/sluice-bench/sluice/scenario/metric"

// unit takes the letters after a number; after spaces only a word that is a unit and no function or metric.
func (l *lexer) unit() string {
	if u := l.take(isLetter); u != "" {
		return u
	}
	from := l.at
	l.spaces()
	word := l.take(isLetter)
	if next := l.peek(0); !isUnit(word) || isDigit(next) || next == '(' || next == '.' {
		l.at = from
		return ""
	}
	return word
}

// percent takes a % after a number, and the spaces before it.
func (l *lexer) percent() bool {
	from := l.at
	if l.spaces(); l.peek(0) == '%' {
		l.at++
		return true
	}
	l.at = from
	return false
}

// compound reads the rest of a duration: 1h30m, 1 h 30 min.
func (l *lexer) compound(t token, digits, unit string) {
	t.dim = metric.Duration
	last := 0.0
	for {
		u := durationUnit(unit)
		v, ok := scaled(digits, u)
		if ok && u != 0 && (last == 0 || u < last) {
			t.value += v
			last = u
		} else {
			l.take(func(r rune) bool { return isLetter(r) || isDigit(r) })
			l.refuse(t.from, codeLiteral, "this is not a duration", "a duration is a number with a unit, such as 50ms, 1.5s, 2m or 1h30m")
			return
		}
		if isDigit(l.peek(0)) {
			digits, unit = l.decimal(), l.unit()
			continue
		}
		from := l.at
		l.spaces()
		if digits, unit = l.decimal(), l.unit(); durationUnit(unit) == 0 || durationUnit(unit) >= last {
			l.at = from
			break
		}
	}
	l.add(t)
}

// rate turns 500/s, 500 /s and 10MB/s into rates, and leaves 1/latency.mean alone. It reports false where it refused.
func (l *lexer) rate(t *token) bool {
	before := l.at
	l.spaces()
	if l.peek(0) != '/' || !isLetter(l.peek(1)) {
		l.at = before
		return true
	}
	l.at++
	unit := l.take(func(r rune) bool { return isLetter(r) || isDigit(r) })
	per := perUnit(unit)
	if l.peek(0) == '(' || l.peek(0) == '.' || per == 0 && nearPer(unit) == "" {
		l.at = before // a division by something that has a name
		return true
	}
	if per == 0 {
		l.problems = append(l.problems, problem{
			from: t.from, to: l.at, code: codeLiteral, summary: "a rate cannot be per " + unit,
			detail: "a rate is a number and a time, such as 200/s, 90/min or 12/h", allowed: []string{"s", "min", "h"},
			nearest: string(l.text[t.from:before]) + "/" + nearPer(unit),
		})
		return false
	}
	t.dim, t.value = metric.Rate, t.value/per
	return true
}

func nearPer(unit string) string {
	switch unit {
	case "sec", "second", "seconds":
		return "s"
	case "m", "minute", "minutes":
		return "min"
	case "hour", "hours":
		return "h"
	}
	return ""
}
