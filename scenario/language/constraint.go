package language

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sluice-bench/sluice/scenario/source"
)

// The grammar of an id and of the plan's name.
const (
	IDPattern   = `[a-z0-9][a-z0-9_-]*`
	NamePattern = `[a-z0-9][a-z0-9._-]*`
)

// The forms of names and of texts with a syntax of their own.
var (
	idForm   = regexp.MustCompile(`^` + IDPattern + `$`)
	nameForm = regexp.MustCompile(`^` + NamePattern + `$`)
	callForm = regexp.MustCompile(`^[A-Z]+ /[!-~]*$`)
	AxisForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	KeyForm  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
)

// constraint checks a decoded scalar against the words, min, max, above and is tags of its field.
func constraint(f field, v any) *source.Diagnostic {
	if words := f.words; len(words) > 0 {
		return OneWord(fmt.Sprint(v), f.key, words)
	}
	if s, ok := v.(string); ok {
		return textForm(f.tag.Get("is"), s)
	}
	for _, end := range [...]struct {
		tag  string
		sign float64
	}{{"min", 1}, {"max", -1}} {
		if text := Bound(f.tag.Get(end.tag)); text != "" &&
			end.sign*(Magnitude(v)-limit(reflect.TypeOf(v), text)) < 0 {
			return outOfRange(f)
		}
	}
	if text := f.tag.Get("above"); text != "" && Magnitude(v) <= limit(reflect.TypeOf(v), text) {
		return source.Errorf(source.CodeRange, "%s must be above %s", f.key, text)
	}
	return nil
}

func outOfRange(f field) *source.Diagnostic {
	low, high := Bound(f.tag.Get("min")), Bound(f.tag.Get("max"))
	m := source.Errorf(source.CodeRange, "")
	switch {
	case high == "":
		m.Summary = fmt.Sprintf("%s must be at least %s", f.key, low)
	case low == "":
		m.Summary = fmt.Sprintf("%s must be at most %s", f.key, high)
	default:
		m.Summary = fmt.Sprintf("%s must be from %s to %s", f.key, low, high)
	}
	return m
}

// limit reads a min or max tag as the type that it limits.
func limit(t reflect.Type, text string) float64 {
	v, wrong := leafOf(t).parse(source.Plain(text, source.Pos{}), "")
	if wrong != nil {
		panic("language: limit " + text + " of a field: " + wrong.Summary)
	}
	return Magnitude(v)
}

// Magnitude is a decoded number as a float.
func Magnitude(v any) float64 {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int64:
		return float64(r.Int())
	case reflect.Float64:
		return r.Float()
	}
	return 0
}

// OneWord reports a word that is not among words as a diagnostic about key; nil: it is.
func OneWord(word, key string, words []string) *source.Diagnostic {
	if slices.Contains(words, word) {
		return nil
	}
	m := source.Errorf(source.CodeValue, "%q is no value of %s", word, key).Among("", words)
	m.Nearest = source.Nearest(word, words)
	return m
}

// textForm checks a text with a special form.
func textForm(is, s string) *source.Diagnostic {
	switch is {
	case "id":
		if !idForm.MatchString(s) {
			return source.Errorf(source.CodeValue, "id %q is not allowed", s).
				Help("use a-z, 0-9, _ and -, first a letter or a digit")
		}
	case "name":
		if !nameForm.MatchString(s) {
			return source.Errorf(source.CodeValue, "name %q is not allowed", s).
				Help("use a-z, 0-9, '.', _ and -, first a letter or a digit")
		}
	case "label":
		if s == "" || len(s) > 200 || strings.ContainsFunc(s, unicode.IsControl) {
			return source.Errorf(source.CodeValue, "id %q is empty, too long, or holds control characters", s)
		}
	case "urlpath":
		if !strings.HasPrefix(s, "/") ||
			strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return source.Errorf(source.CodeValue, "%q is no path of a URL", s).
				Help("a path begins with / and holds no spaces")
		}
	case "call":
		if !callForm.MatchString(s) {
			return source.Errorf(source.CodeValue, "%q is no call", s).Help("write METHOD PATH, such as POST /reset")
		}
	case "nonempty":
		if s == "" {
			return source.Errorf(source.CodeValue, "the text is empty")
		}
	}
	return nil
}

// The limits that keep a typing slip from becoming a denial of service.
const (
	MaxSlots  = 65536      // requests in flight
	MaxRate   = 10_000_000 // requests a second
	MaxValues = 1000       // written or stepped values of one quantity
	MaxSteps  = 1000       // of one ramp
)

// Bound is the number that a min or max tag stands for: of MaxSlots its value, else what is written.
func Bound(text string) string {
	if text == "MaxSlots" {
		return strconv.Itoa(MaxSlots)
	}
	return text
}
