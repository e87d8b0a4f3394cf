package language

import (
	"cmp"
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
func constraint(f field, v any, n *source.Node, path string) *source.Diagnostic {
	if d, ok := v.(interface{ Plain() any }); ok {
		v = d.Plain()
	}
	if len(f.words) > 0 {
		return OneWord(fmt.Sprint(v), f.key, f.words)
	}
	if s, ok := v.(string); ok {
		return textForm(f.is, s)
	}
	m := Magnitude(v)
	if f.min.text != "" && m < f.min.value || f.above.text != "" && m <= f.above.value ||
		f.max.text != "" && m > f.max.value {
		return OutOfRange("`"+cmp.Or(f.key, LastKey(path))+"`", n.Text, f.min.text, f.above.text, f.max.text)
	}
	return nil
}

// bound is the value of a min, above or max tag, as a plan writes it and as a number; "": there is none.
type bound struct {
	text  string
	value float64
}

// readBounds reads the min, above and max tags of a scalar, or of a list of them.
func readBounds(f reflect.StructField) (bounds [3]bound) {
	t := f.Type
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	t = leafType(deref(t))
	for i, text := range Bounds(f.Tag, LeafName(t)) {
		if text != "" {
			bounds[i] = bound{text, Magnitude(readTag(t, text))}
		}
	}
	return bounds
}

// OutOfRange reports a value outside of the bounds of its key, of which "" is none.
func OutOfRange(key, found, least, above, most string) *source.Diagnostic {
	var bounds []string
	for _, b := range [...][2]string{{"at least ", least}, {"more than ", above}, {"at most ", most}} {
		if b[1] != "" {
			bounds = append(bounds, b[0]+b[1])
		}
	}
	return source.Errorf(source.CodeRange, "%s cannot be %s", key, found).
		Help("Allowed is " + strings.Join(bounds, " and ") + ".")
}

// Magnitude is a decoded number as a float; of a span the number of what it counts.
func Magnitude(v any) float64 {
	switch v := v.(type) {
	case Span:
		return float64(max(int64(v.Duration), v.Requests, v.Sequences, v.Sessions, v.Passes))
	case interface{ Plain() any }:
		return Magnitude(v.Plain())
	}
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
	return source.Errorf(source.CodeValue, "%q is no value of %s", word, key).
		Among(NearestWord(word, words), words)
}

// NearestWord returns the word that was likely meant, also by its beginning or with more behind it:
// warning for warn; "": that is open.
func NearestWord(word string, words []string) string {
	if near := source.Nearest(word, words); near != "" {
		return near
	}
	lower := strings.ToLower(word)
	for _, w := range words {
		if len(w) > 2 && (strings.HasPrefix(lower, w) || len(lower) > 2 && strings.HasPrefix(w, lower)) {
			return w
		}
	}
	return ""
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
			return source.Errorf(source.CodeValue, "%q is no call", s).
				Help("write METHOD PATH, such as POST /reset")
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

// Bounds returns the min, above and max tags of a type of scalars as a plan writes them, "" for none. A
// whole number above 0 is at least 1.
func Bounds(tag reflect.StructTag, typ string) [3]string {
	amount, unit := MaxSlots, ""
	if typ == "rate" {
		amount, unit = MaxRate, "/s"
	}
	limit := strings.NewReplacer("zero", "0"+unit, "MaxSlots", strconv.Itoa(amount)+unit,
		"MaxAmount", strconv.Itoa(amount)+unit)
	least, above := limit.Replace(tag.Get("min")), limit.Replace(tag.Get("above"))
	if typ == "int" && above == "0" {
		least, above = "1", ""
	}
	return [3]string{least, above, limit.Replace(tag.Get("max"))}
}
