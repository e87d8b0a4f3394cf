package scenario

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Secret is a value that cannot be printed by accident: every way of formatting it gives ***. The value stands in a
// closure, because fmt calls no method of what lies in an unexported field, nor after a wrong verb, and follows pointers.
type Secret struct{ open func() hidden }

type hidden struct {
	value string
	forms []string // how the value may look where something has encoded it, the value first
}

// NewSecret wraps a value.
func NewSecret(value string) Secret {
	h := hidden{value, encodings(value)}
	return Secret{func() hidden { return h }}
}

const masked = "***"

func (Secret) String() string { return masked }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return masked }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Format implements fmt.Formatter for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }

// shortest is how long an encoded form must be to be masked: a shorter one could stand anywhere by chance.
const shortest = 4

// encodings lists how a value looks in a URL, in JSON, in hex, and inside a longer text in base64 (where it begins at one
// of three places of a group of characters).
func encodings(value string) []string {
	if value == "" {
		return nil
	}
	quoted, _ := json.Marshal(value) // a string is always encoded
	forms := []string{
		value, strings.Trim(string(quoted), `"`), url.QueryEscape(value), url.PathEscape(value),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for _, escaped := range forms[2:4] {
		forms = append(forms, percent.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	for _, e := range [...]*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := e.EncodeToString(append(make([]byte, before), value...))
			text = text[[...]int{0, 2, 3}[before]:] // characters that depend on what stands before
			if (before+len(value))%3 != 0 && text != "" {
				text = text[:len(text)-1] // and on what follows
			}
			forms = append(forms, text)
		}
	}
	kept := forms[:1]
	for _, f := range forms[1:] {
		if len(f) >= shortest && !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	return kept
}

var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// Mask replaces every secret value in s by ***, and every encoding of one.
func (p *Plan) Mask(s string) string { return maskAll(s, p.Secrets) }

// maskAll replaces the longest texts first, so that a secret that is part of another leaves nothing of it.
func maskAll(s string, secrets []Secret) string {
	var forms []string
	for _, secret := range secrets {
		forms = append(forms, secret.open().forms...)
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, f := range forms {
		s = strings.ReplaceAll(s, f, masked)
	}
	for _, f := range forms { // a text that was cut may end in the middle of one
		for n := min(len(f)-1, len(s)); n >= shortest; n-- {
			if strings.HasSuffix(s, f[:n]) {
				return s[:len(s)-n] + masked
			}
		}
	}
	return s
}

// Conceal takes the plan's secrets out of diagnostics: their words are masked, and a line that holds one is not shown.
// sources gives the files that they point to.
func (p *Plan) Conceal(ds source.Diagnostics, sources source.Sources) source.Diagnostics {
	return conceal(ds, p.Secrets, sources)
}

func conceal(ds source.Diagnostics, secrets []Secret, sources source.Sources) source.Diagnostics {
	lines := map[string][]string{}
	for i := range ds {
		d := &ds[i]
		d.Summary, d.Detail, d.Nearest = maskAll(d.Summary, secrets), maskAll(d.Detail, secrets), maskAll(d.Nearest, secrets)
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
