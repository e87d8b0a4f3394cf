package scenario

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Secret is a value that cannot be printed by accident: every way of formatting it gives ***. The
// value is in a closure, because fmt calls no method of what lies in an unexported field, nor
// after a wrong verb, and follows pointers.
type Secret struct{ forms func() []form } // how the value may look, the longest first

// NewSecret wraps a value.
func NewSecret(value string) Secret {
	forms := formsOf(value)
	return Secret{func() []form { return forms }}
}

func (Secret) String() string { return layer.Masked }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte(layer.Masked), nil }

// Format implements fmt.Formatter for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(layer.Masked)) }

// Mask replaces every secret value in s by ***, and every encoding of one; a short secret only where
// it is a word.
func (p *Plan) Mask(s string) string { return maskAll(s, p.Secrets) }

// maskAll replaces the longest texts first, so that a secret that is part of another leaves nothing
// of it.
func maskAll(s string, secrets []Secret) string { return maskForms(s, allForms(secrets)) }

func allForms(secrets []Secret) []form {
	if len(secrets) == 1 {
		return secrets[0].forms()
	}
	var forms []form
	for _, secret := range secrets {
		forms = append(forms, secret.forms()...)
	}
	return sorted(forms)
}

func maskForms(s string, forms []form) string {
	for _, f := range forms {
		if f.word {
			s = maskWords(s, f.text)
			continue
		}
		s = strings.ReplaceAll(s, f.text, layer.Masked)
	}
	for _, f := range forms { // a text that was cut may end in the middle of one
		if n := overlap(s, f.text); n > 0 && !f.word {
			return s[:len(s)-n] + layer.Masked
		}
	}
	return s
}

// overlap counts the bytes of a form that s ends with; 0: too few to tell.
func overlap(s, form string) int {
	if len(form) <= shortestForm {
		return 0
	}
	for at := max(0, len(s)-len(form)+1); ; at++ {
		next := strings.Index(s[at:], form[:shortestForm])
		if next < 0 {
			return 0
		}
		if at += next; strings.HasPrefix(form, s[at:]) {
			return len(s) - at
		}
	}
}

// maskWords replaces word where nothing beside it belongs to the same word or number.
func maskWords(s, word string) string {
	var b strings.Builder
	for from := 0; ; {
		at := strings.Index(s[from:], word)
		if at < 0 {
			b.WriteString(s[from:])
			return b.String()
		}
		at += from
		end := at + len(word)
		if joins(reversed(s[:at])) || joins(s[end:]) {
			_, size := utf8.DecodeRuneInString(s[at:])
			b.WriteString(s[from : at+size])
			from = at + size
			continue
		}
		b.WriteString(s[from:at] + layer.Masked)
		from = end
	}
}

// joins reports whether a text that follows a word makes that longer: a letter, a digit, or the rest
// of a number.
func joins(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	if r == '.' && len(s) > size {
		return s[size] >= '0' && s[size] <= '9'
	}
	return r == '_' || r == '%' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// reversed is the end of s from back to front, as far as joins looks.
func reversed(s string) string {
	r, size := utf8.DecodeLastRuneInString(s)
	before, _ := utf8.DecodeLastRuneInString(s[:len(s)-size])
	if size == 0 {
		return ""
	}
	return string([]rune{r, before})
}

// Conceal takes the plan's secrets out of diagnostics: their words are masked, and a line that holds
// one is not shown. sources gives the files that they point to.
func (p *Plan) Conceal(ds source.Diagnostics, sources source.Sources) source.Diagnostics {
	return conceal(ds, p.Secrets, sources)
}

func conceal(ds source.Diagnostics, secrets []Secret, sources source.Sources) source.Diagnostics {
	lines := map[string][]string{}
	for i := range ds {
		d := &ds[i]
		if maskAll(d.Summary, secrets) != d.Summary { // what is near to a secret says something of it
			d.Nearest = ""
		}
		d.Summary, d.Detail, d.Nearest = maskAll(d.Summary,
			secrets), maskAll(d.Detail, secrets), maskAll(d.Nearest, secrets)
		d.Allowed = slices.Clone(d.Allowed)
		for k := range d.Allowed {
			d.Allowed[k] = maskAll(d.Allowed[k], secrets)
		}
		if len(secrets) == 0 {
			continue
		}
		file := d.Pos.File
		if lines[file] == nil {
			lines[file] = strings.Split(string(sources(file)), "\n")
		}
		if n := d.Pos.Line; n > 0 && n <= len(lines[file]) {
			text := lines[file][n-1]
			d.Hidden = d.Hidden || maskAll(text, secrets) != text
		}
	}
	return ds
}

// secretsOf lists the values that must not be shown.
func secretsOf(vs *layer.Variables) []Secret {
	var all []Secret
	for _, v := range vs.Values {
		if text := v.Given(); v.Secret && text != "" {
			all = append(all, NewSecret(text))
		}
	}
	return all
}

// warnShort warns of secrets that cannot be masked wherever they appear.
func warnShort(vs *layer.Variables) (found source.Diagnostics) {
	for _, v := range vs.Values {
		text := v.Given()
		if !v.Secret || text == "" || utf8.RuneCountInString(text) >= shortSecret {
			continue
		}
		found = append(found, source.Warnf(
			source.CodeShortSecret, "the secret %q has fewer than %d characters", v.Name,
			shortSecret,
		).
			Help("it is masked only where it is a word of its own, and so is every other word like it: use "+
				"a longer one").
			AtKey(v.Path, v.KeyPos, v.Name))
	}
	return found
}

// What is sent may hold secrets as plain text, in any value. So what holds them by value is named when
// it is formatted or marshalled, never shown; Plan.Resolved is there to be shown.

// Format implements fmt.Formatter for every verb.
func (p Plan) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "plan %q", p.Name) }

// Format implements fmt.Formatter for every verb.
func (t Target) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "target %q", t.Name) }

// Format implements fmt.Formatter for every verb.
func (s Stage) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "stage %q", s.ID) }

// Format implements fmt.Formatter for every verb.
func (e Entry) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "entry %q", e.Name) }

// Format implements fmt.Formatter for every verb.
func (r Request) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "request on ", r.Target) }

// MarshalText implements encoding.TextMarshaler.
func (p Plan) MarshalText() ([]byte, error) { return fmt.Append(nil, p), nil }

// MarshalText implements encoding.TextMarshaler.
func (t Target) MarshalText() ([]byte, error) { return fmt.Append(nil, t), nil }

// MarshalText implements encoding.TextMarshaler.
func (s Stage) MarshalText() ([]byte, error) { return fmt.Append(nil, s), nil }

// MarshalText implements encoding.TextMarshaler.
func (e Entry) MarshalText() ([]byte, error) { return fmt.Append(nil, e), nil }

// MarshalText implements encoding.TextMarshaler.
func (r Request) MarshalText() ([]byte, error) { return fmt.Append(nil, r), nil }
