package scenario

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

// TestSecretCannotBePrinted formats a secret in every way that there is: alone, by pointer, inside of other values, in
// fields that fmt cannot call methods on.
func TestSecretCannotBePrinted(t *testing.T) {
	const value = "hunter2-0451"
	s := NewSecret(value)
	type inside struct {
		Public  Secret
		private Secret
	}
	held := inside{s, s}
	shapes := map[string]any{
		"value": s, "pointer": &s, "struct": held, "pointer to struct": &held, "slice": []Secret{s}, "map": map[string]Secret{"k": s},
		"any": []any{s}, "private": struct{ s Secret }{s}, "error": errors.Join(fmt.Errorf("%v", s)),
	}
	for name, shape := range shapes {
		for _, flags := range []string{"", "+", "#", "-20", "020", " ", ".3", "+#20.5"} {
			for verb := 'A'; verb <= 'z'; verb++ {
				if got := fmt.Sprintf("%"+flags+string(verb), shape); leaks(got, value) {
					t.Errorf("%s with %%%s%c: %s", name, flags, verb, got)
				}
			}
		}
		if got := fmt.Sprint(shape) + fmt.Sprintln(shape); leaks(got, value) {
			t.Errorf("%s printed: %s", name, got)
		}
		if data, err := json.Marshal(shape); err == nil && leaks(string(data), value) {
			t.Errorf("%s as JSON: %s", name, data)
		}
		if data, err := xml.Marshal(shape); err == nil && leaks(string(data), value) {
			t.Errorf("%s as XML: %s", name, data)
		}
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", "secret", shape)
		slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "secret", shape, slog.Any("again", shape))
		if leaks(b.String(), value) {
			t.Errorf("%s logged: %s", name, b.String())
		}
	}
	if s.open().value != value || s.String() != "***" || fmt.Sprintf("%s %d %q", s, s, s) != "*** *** ***" {
		t.Errorf("a secret is shown as %s and holds %d characters", s, len(s.open().value))
	}
}

// leaks looks for the value and for its bytes in hex or decimal.
func leaks(text, value string) bool {
	return strings.Contains(text, value) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", value)) ||
		strings.Contains(text, strings.Trim(fmt.Sprintf("%d", []byte(value)), "[]"))
}

// TestMaskKnowsEncodings hides a secret however it is written, and wherever in a base64 text it begins.
func TestMaskKnowsEncodings(t *testing.T) {
	const value = `p@ss/wörd"+&%<0451>`
	secrets := []Secret{NewSecret(value), NewSecret("ab")}
	quoted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{
		"plain": value, "query": url.QueryEscape(value), "path": url.PathEscape(value), "JSON": string(quoted),
		"lower query": percent.ReplaceAllStringFunc(url.QueryEscape(value), strings.ToLower), "hex": fmt.Sprintf("%x %X", value, value),
	}
	for before := range 4 {
		for after := range 4 {
			text := strings.Repeat("u", before) + value + strings.Repeat("v", after)
			texts[fmt.Sprint("base64 ", before, after)] = base64.StdEncoding.EncodeToString([]byte(text))
			texts[fmt.Sprint("base64url ", before, after)] = base64.RawURLEncoding.EncodeToString([]byte(text))
		}
	}
	for name, text := range texts {
		got := maskAll("<"+text+">", secrets)
		if !strings.Contains(got, masked) || strings.Contains(got, text) || !strings.HasPrefix(got, "<") || !strings.HasSuffix(got, ">") {
			t.Errorf("%s: %s became %s", name, text, got)
		}
	}
	if got := maskAll("a cab, YWI= and 6162", secrets); got != "a c***, YWI= and ***" {
		t.Errorf("a short secret: %s", got)
	}
	for n := shortest; n < len(value); n++ {
		if got := maskAll("it says "+value[:n], secrets); got != "it says "+masked {
			t.Errorf("cut after %d bytes: %s", n, got)
		}
	}
	if got := maskAll("nothing", []Secret{NewSecret("")}); got != "nothing" {
		t.Errorf("an empty secret: %s", got)
	}
}

// TestDiagnosticsHideSecrets looks for a secret in all that is said of plans which hold it in the wrong places.
func TestDiagnosticsHideSecrets(t *testing.T) {
	const value = "hunter2-0451"
	plans := map[string]string{
		"default in the plan": "vars: {token: {default: " + value + ", secret: true, type: int}}\nseed: \"${token}\"\n",
		"value of the wrong kind": "vars: {token: {env: TOKEN, secret: true}}\nseed: \"${token}\"\ntarget: {backend: \"${token}\", url: \"${token}\", model: m, timeout: \"${token}\"}\n" +
			"stages: [{id: \"${token}\", load: {rate: \"${token}\"}, for: \"${token}\", target: \"${token}\", needs: [\"${token}\"]}]\n",
		"profile": "vars: {token: {env: TOKEN, secret: true}}\nprofiles: {p: {vars: {token: " + value + "}, seed: \"" + value + "\"}}\n",
	}
	for name, plan := range plans {
		o := Overrides{
			Profiles: []string{"p"}, Vars: []string{"tokn=" + value, "token=" + value}, Sets: []string{"stages.x.for=" + value},
			Env: func(string) (string, bool) { return value, true },
		}
		_, ds := Parse("plan.yaml", []byte("version: 1\n"+plan), o)
		text := fmt.Sprintf("%+v", ds)
		if !ds.HasErrors() || strings.Contains(text, value) {
			t.Errorf("%s: %s", name, text)
		}
		for _, d := range ds {
			lines := strings.Split(string(append([]byte("version: 1\n"), plan...)), "\n")
			if d.Pos.File != "plan.yaml" {
				lines = strings.Split(string(o.Source(d.Pos.File)), "\n")
			}
			if n := d.Pos.Line; !d.Hidden && n <= len(lines) && strings.Contains(lines[n-1], value) {
				t.Errorf("%s: %s shows its line: %s", name, d.Pos, d.Summary)
			}
		}
	}
}
