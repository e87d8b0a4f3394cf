package language

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// The leaf types of the plan language that Go has no type for.

type (
	// Rate is a number per second.
	Rate float64
	// Ratio is a share: 1 is 100%.
	Ratio float64
	// Size is a number of bytes.
	Size int64
	// power is a number of watts.
	power float64
	// Number is a number without a unit.
	Number float64
	// Path is a file's path as it is written.
	Path string
)

// Span is a duration or a number of things; at most one is not zero, and all are for `0s`.
type Span struct {
	Duration  time.Duration
	Requests  int64
	Sequences int64
	Sessions  int64
	Passes    int64 // over all rows of the data
}

// IsZero reports whether the span is empty.
func (s Span) IsZero() bool { return s == Span{} }

// Connections is `per_slot`, `per_request`, or a number shared by all slots.
type Connections struct {
	PerRequest bool
	Shared     int // 0: one for each slot
}

// leaf reads one type of scalar.
type leaf struct {
	def   string // its name in the schema's $defs
	parse func(n *source.Node, path string) (any, *source.Diagnostic)
}

// leafOf is the table of leaf types; nil: t is none.
func leafOf(t reflect.Type) *leaf {
	ofText := func(parse func(string) (any, *source.Diagnostic)) func(*source.Node, string) (any, *source.Diagnostic) {
		return func(n *source.Node, _ string) (any, *source.Diagnostic) { return parse(n.Text) }
	}
	switch t {
	case reflect.TypeFor[string]():
		return &leaf{"text", ofText(func(s string) (any, *source.Diagnostic) { return s, nil })}
	case reflect.TypeFor[Path]():
		return &leaf{"path", ofText(parsePath)}
	case reflect.TypeFor[int64]():
		return &leaf{"int", parseInt}
	case reflect.TypeFor[bool]():
		return &leaf{"bool", parseBool}
	case reflect.TypeFor[Number]():
		return &leaf{"number", parseNumber}
	case reflect.TypeFor[time.Duration]():
		return &leaf{"duration", ofText(func(s string) (any, *source.Diagnostic) { return box(parseDuration(s)) })}
	case reflect.TypeFor[Rate]():
		return &leaf{"rate", ofText(func(s string) (any, *source.Diagnostic) { return box(parseRate(s)) })}
	case reflect.TypeFor[Ratio]():
		return &leaf{"ratio", ofText(func(s string) (any, *source.Diagnostic) { return box(parseRatio(s)) })}
	case reflect.TypeFor[Size]():
		return &leaf{"size", ofText(func(s string) (any, *source.Diagnostic) { return box(parseSize(s)) })}
	case reflect.TypeFor[power]():
		return &leaf{"power", ofText(func(s string) (any, *source.Diagnostic) { return box(parsePower(s)) })}
	case reflect.TypeFor[Span]():
		return &leaf{"span", ofText(func(s string) (any, *source.Diagnostic) { return box(parseSpan(s)) })}
	case reflect.TypeFor[Connections]():
		return &leaf{"connections", ofText(parseConnections)}
	case reflect.TypeFor[source.Text]():
		return &leaf{"expression", parseExpression}
	case reflect.TypeFor[any]():
		return &leaf{"any", parseAny}
	case reflect.TypeFor[element]():
		return &leaf{"any", parseElement}
	case reflect.TypeFor[Derived[int64]]():
		return &leaf{"int", parseDerived[int64]}
	case reflect.TypeFor[Derived[Rate]]():
		return &leaf{"rate", parseDerived[Rate]}
	case reflect.TypeFor[precision[int64]]():
		return &leaf{"int or ratio", parsePrecision[int64]}
	case reflect.TypeFor[precision[Rate]]():
		return &leaf{"rate or ratio", parsePrecision[Rate]}
	}
	return nil
}

func box[T any](v T, m *source.Diagnostic) (any, *source.Diagnostic) { return v, m }

// Grammar of the scalars with a unit:
//
//	duration = see source.ParseDuration
//	rate     = decimal *" " "/" ( "s" | "min" | "h" )
//	ratio    = decimal *" " "%"
//	size     = decimal *" " ( "B" | "kB" | "KB" | "MB" | "GB" | "KiB" | "MiB" | "GiB" )
//	power    = decimal *" " ( "mW" | "W" | "kW" )
//	span     = duration | int 1*" " ( "request" | "sequence" | "session" | "pass" ) [ "s" | "es" ]
//	decimal  = 1*digit [ "." 1*digit ]
var (
	decimalForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	sizeForm    = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) *([A-Za-z]+)$`)
	powerForm   = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) *(mW|W|kW)$`)
	spanForm    = regexp.MustCompile(`^([0-9]+) +([a-z]+)$`)
	intForm     = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
)

// IsDecimal reports whether a text is a number without a sign and a unit.
func IsDecimal(s string) bool { return decimalForm.MatchString(s) }

func parseDuration(s string) (time.Duration, *source.Diagnostic) {
	const detail = "a duration is a number with a unit, such as 50ms, 1.5s, 2m or 1h30m"
	if !source.IsDuration(s) {
		m := source.Errorf(source.CodeValue, "%q is not a duration", s).Help(detail)
		if decimalForm.MatchString(s) {
			m.Summary, m.Nearest = fmt.Sprintf("duration %q has no unit", s), s+"s"
		} else if meant := source.NearestQuantity(s); source.IsDuration(meant) {
			m.Nearest = meant
		}
		return 0, m
	}
	d, ok := source.ParseDuration(s)
	if !ok {
		return 0, source.Errorf(source.CodeValue, "duration %q is too large", s).
			Help("the longest duration is about 292 years")
	}
	return d, nil
}

func parseRate(s string) (Rate, *source.Diagnostic) {
	const detail = "a rate is a number and a time, such as 200/s, 90/min or 12/h"
	per := map[string]float64{"s": 1, "min": 60, "h": 3600}
	n, unit, found := strings.Cut(s, "/")
	n = strings.TrimRight(n, " ")
	if !decimalForm.MatchString(n) {
		m := source.Errorf(source.CodeValue, "%q is not a rate", s).Help(detail)
		if meant := source.NearestQuantity(s); strings.Contains(meant, "/") {
			m.Nearest = meant
		}
		return 0, m
	}
	if !found {
		m := source.Errorf(source.CodeValue, "rate %q has no unit", s).Help(detail)
		m.Nearest = s + "/s"
		return 0, m
	}
	if per[unit] == 0 {
		m := source.Errorf(source.CodeValue, "rate %q has an unknown unit", s).Help(detail)
		m.Allowed = []string{n + "/s", n + "/min", n + "/h"}
		if meant := source.NearestQuantity(n + "/" + unit); strings.Contains(meant, "/") {
			m.Nearest = meant
		}
		return 0, m
	}
	v, _ := strconv.ParseFloat(n, 64)
	return Rate(v / per[unit]), nil
}

func parseRatio(s string) (Ratio, *source.Diagnostic) {
	const detail = "a ratio is written in percent, such as 0.1% or 95%"
	n, found := strings.CutSuffix(s, "%")
	n = strings.TrimRight(n, " ")
	if !decimalForm.MatchString(n) {
		return 0, source.Errorf(source.CodeValue, "%q is not a ratio", s).Help(detail)
	}
	v, _ := strconv.ParseFloat(n, 64)
	if !found {
		m := source.Errorf(source.CodeValue, "ratio %q has no unit", s).Help(detail)
		m.Nearest = strconv.FormatFloat(math.Round(v*1e10)/1e8, 'f', -1, 64) + "%"
		return 0, m
	}
	if math.IsInf(v, 0) {
		return 0, source.Errorf(source.CodeValue, "ratio %q is too large", s).Help(detail)
	}
	return Ratio(v / 100), nil
}

func parseSize(s string) (Size, *source.Diagnostic) {
	const detail = "a size is a number with a unit, such as 512B, 100KiB, 64MiB or 1MB"
	units := map[string]float64{
		"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}
	m := sizeForm.FindStringSubmatch(s)
	if m == nil || units[m[2]] == 0 {
		wrong := source.Errorf(source.CodeValue, "%q is not a size", s).Help(detail)
		if decimalForm.MatchString(s) {
			wrong.Summary, wrong.Nearest = fmt.Sprintf("size %q has no unit", s), s+"B"
		} else if m != nil {
			wrong.Allowed = []string{"B", "kB", "MB", "GB", "KiB", "MiB", "GiB"}
			wrong.Nearest = source.Nearest(m[2], wrong.Allowed)
		}
		return 0, wrong
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	if v *= units[m[2]]; v >= math.MaxInt64 {
		return 0, source.Errorf(source.CodeValue, "size %q is too large", s).Help(detail)
	}
	return Size(math.Round(v)), nil
}

// parsePower reads watts.
func parsePower(s string) (power, *source.Diagnostic) {
	const detail = "a power is a number with a unit, such as 300mW, 500W or 0.5kW"
	m := powerForm.FindStringSubmatch(s)
	if m == nil {
		wrong := source.Errorf(source.CodeValue, "%q is not a power", s).Help(detail)
		if decimalForm.MatchString(s) {
			wrong.Summary, wrong.Nearest = fmt.Sprintf("power %q has no unit", s), s+"W"
		} else if meant := source.NearestQuantity(s); powerForm.MatchString(meant) {
			wrong.Nearest = meant
		}
		return 0, wrong
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	v *= map[string]float64{"mW": 1e-3, "W": 1, "kW": 1e3}[m[2]]
	if math.IsInf(v, 0) {
		return 0, source.Errorf(source.CodeValue, "power %q is too large", s).Help(detail)
	}
	return power(v), nil
}

func parseSpan(s string) (Span, *source.Diagnostic) {
	const detail = "a span is a duration such as 60s, or a number such as 1000 requests or 2 passes"
	if m := spanForm.FindStringSubmatch(s); m != nil && !source.IsDuration(s) {
		return parseCount(s, m[1], m[2])
	}
	d, wrong := parseDuration(s)
	if wrong == nil {
		return Span{Duration: d}, nil
	}
	if source.IsDuration(s) {
		return Span{}, wrong // it is too long
	}
	wrong.Detail = detail
	wrong.Summary = fmt.Sprintf("%q is not a span", s)
	if decimalForm.MatchString(s) {
		wrong.Summary, wrong.Nearest = fmt.Sprintf("span %q has no unit", s), ""
		wrong.Allowed = []string{s + "s", s + " requests"}
	}
	return Span{}, wrong
}

// parseCount reads the form of a span that is a number of things.
func parseCount(s, digits, unit string) (Span, *source.Diagnostic) {
	n, err := strconv.ParseInt(digits, 10, 64)
	var span Span
	switch unit {
	case "request", "requests":
		span.Requests = n
	case "sequence", "sequences":
		span.Sequences = n
	case "session", "sessions":
		span.Sessions = n
	case "pass", "passes":
		span.Passes = n
	default:
		m := source.Errorf(source.CodeValue, "span %q has an unknown unit", s).
			Help("counts are in requests, sequences, sessions or passes")
		m.Allowed = []string{"requests", "sequences", "sessions", "passes"}
		m.Nearest = source.Nearest(unit, m.Allowed)
		return Span{}, m
	}
	if err != nil {
		return Span{}, source.Errorf(source.CodeValue, "span %q is too large", s)
	}
	if n == 0 {
		return Span{}, source.Errorf(source.CodeValue, "span %q is no number of %s", s, unit).
			Help("give at least 1")
	}
	return span, nil
}

func parseConnections(s string) (any, *source.Diagnostic) {
	switch s {
	case "per_slot":
		return Connections{}, nil
	case "per_request":
		return Connections{PerRequest: true}, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || !intForm.MatchString(s) || n < 1 || n > MaxSlots {
		m := source.Errorf(source.CodeValue, "%q is no way to connect", s).
			Help(fmt.Sprintf("or a number from 1 to %d, shared by all slots", MaxSlots))
		m.Allowed = []string{"per_slot", "per_request"}
		m.Nearest = source.Nearest(s, m.Allowed)
		return nil, m
	}
	return Connections{Shared: n}, nil
}

func parsePath(s string) (any, *source.Diagnostic) {
	if s == "" || strings.ContainsRune(s, 0) {
		return nil, source.Errorf(source.CodeValue, "a path is empty or holds a NUL")
	}
	return Path(s), nil
}

func parseInt(n *source.Node, _ string) (any, *source.Diagnostic) {
	if n.Tag == "!!int" {
		v, err := strconv.ParseInt(n.Text, 10, 64)
		if err != nil {
			return nil, source.Errorf(source.CodeValue, "integer %s is out of range", n.Text)
		}
		return v, nil
	}
	m := source.Errorf(source.CodeValue, "%q is not an integer", n.Text).
		Help("an integer is written with digits only, such as 16")
	if intForm.MatchString(n.Text) {
		m.Detail = "leave out the quotes, or declare the variable with `type: int`"
	} else if v, err := strconv.ParseFloat(n.Text, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		m.Nearest = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return nil, m
}

func parseNumber(n *source.Node, _ string) (any, *source.Diagnostic) {
	v, err := strconv.ParseFloat(n.Text, 64)
	if (n.Tag == "!!int" || n.Tag == "!!float") && err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
		return Number(v), nil
	}
	return nil, source.Errorf(source.CodeValue, "%q is not a number", n.Text).
		Help("a number has no unit and no quotes, such as 0.5 or 20")
}

func parseBool(n *source.Node, _ string) (any, *source.Diagnostic) {
	if n.Tag == "!!bool" {
		return n.Text == "true", nil
	}
	m := source.Errorf(source.CodeValue, "%q is not a bool", n.Text)
	m.Allowed = []string{"true", "false"}
	m.Nearest = map[string]string{
		"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false",
	}[strings.ToLower(n.Text)]
	return nil, m
}

func parseExpression(n *source.Node, path string) (any, *source.Diagnostic) {
	if strings.TrimSpace(n.Text) == "" {
		return nil, source.Errorf(source.CodeValue, "the expression is empty").
			Help("write a comparison, such as latency.p99 < 50ms")
	}
	return n.AsText(path), nil
}

// element is one of a tensor: what parseAny gives, or an integer that only an unsigned one of 64 bits
// holds, as uint64.
type element any

func parseElement(n *source.Node, path string) (any, *source.Diagnostic) {
	if n.Tag == "!!int" {
		if v, err := strconv.ParseUint(n.Text, 10, 64); err == nil && v > math.MaxInt64 {
			return v, nil
		}
	}
	return parseAny(n, path)
}

// parseAny types a scalar as YAML does: bool, int64, float64 or string.
func parseAny(n *source.Node, path string) (any, *source.Diagnostic) {
	switch n.Tag {
	case "!!bool":
		return parseBool(n, path)
	case "!!int":
		return parseInt(n, path)
	case "!!float":
		v, m := parseNumber(n, path)
		if m != nil {
			return nil, m
		}
		return float64(v.(Number)), nil
	}
	return n.Text, nil
}

// variableType is what a type of variable is read as.
func variableType(name string) reflect.Type {
	switch name {
	case "int":
		return reflect.TypeFor[int64]()
	case "number":
		return reflect.TypeFor[Number]()
	case "bool":
		return reflect.TypeFor[bool]()
	case "duration":
		return reflect.TypeFor[time.Duration]()
	case "rate":
		return reflect.TypeFor[Rate]()
	case "ratio":
		return reflect.TypeFor[Ratio]()
	case "size":
		return reflect.TypeFor[Size]()
	case "power":
		return reflect.TypeFor[power]()
	}
	return reflect.TypeFor[string]()
}

// ReadAs reads a scalar as a type of variable; for "text" it is its text.
func ReadAs(typ string, n *source.Node) (any, *source.Diagnostic) {
	return leafOf(variableType(typ)).parse(n, "")
}

// ReadKey reads a key of `values` as one of the values.
func ReadKey[T any](key string) (any, *source.Diagnostic) {
	return leafOf(reflect.TypeFor[T]()).parse(source.Plain(key, source.Pos{}), "")
}

// LeafName is the name of a type of scalars in the schema: of T of a Val[T]; "": it is none.
func LeafName(t reflect.Type) string {
	l := leafOf(t)
	if l == nil {
		return ""
	}
	return l.def
}
