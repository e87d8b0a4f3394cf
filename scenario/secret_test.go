package scenario

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestSecretCannotBePrinted formats a secret in every way that there is: alone, by pointer, inside
// of other values, in fields that fmt cannot call methods on.
func TestSecretCannotBePrinted(t *testing.T) {
	const value = "hunter2-0451"
	s := NewSecret(value)
	type inside struct {
		Public  Secret
		private Secret
	}
	held := inside{s, s}
	shapes := map[string]any{
		"value": s, "pointer": &s, "struct": held, "pointer to struct": &held, "slice": []Secret{s},
		"map": map[string]Secret{"k": s},
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
	hidden := slices.ContainsFunc(s.forms(), func(f form) bool { return f.text == value })
	if !hidden || s.String() != "***" || fmt.Sprintf("%s %d %q", s, s, s) != "*** *** ***" {
		t.Errorf("a secret is shown as %s and has %d forms", s, len(s.forms()))
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
		"lower query": percent.ReplaceAllStringFunc(url.QueryEscape(value), strings.ToLower),
		"hex":         fmt.Sprintf("%x %X", value, value),
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
		if !strings.Contains(got, layer.Masked) || strings.Contains(got, text) || !strings.HasPrefix(got, "<") ||
			!strings.HasSuffix(got, ">") {
			t.Errorf("%s: %s became %s", name, text, got)
		}
	}
	if got := maskAll("a cab, (ab) YWI= and 6162", secrets); got != "a cab, (***) YWI= and ***" {
		t.Errorf("a short secret: %s", got)
	}
	for n := shortestForm; n < len(value); n++ {
		if got := maskAll("it says "+value[:n], secrets); got != "it says "+layer.Masked {
			t.Errorf("cut after %d bytes: %s", n, got)
		}
	}
	if got := maskAll("nothing", []Secret{NewSecret("")}); got != "nothing" {
		t.Errorf("an empty secret: %s", got)
	}
}

// TestMaskQuotedTwice hides secrets with characters that programs escape, in all that they make of
// them, and of that once more.
func TestMaskQuotedTwice(t *testing.T) {
	encoders := map[string]func(string) string{
		"plain": func(s string) string { return s },
		"JSON":  func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) },
		"JSON without HTML": func(s string) string {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			_ = e.Encode(s)
			return strings.TrimSuffix(b.String()[1:], "\"\n")
		},
		"Go":       func(s string) string { q := strconv.Quote(s); return q[1 : len(q)-1] },
		"Go ASCII": func(s string) string { q := strconv.QuoteToASCII(s); return q[1 : len(q)-1] },
		"Python URL": func(s string) string {
			return strings.NewReplacer("+",
				"%20", "%2F", "/").Replace(url.QueryEscape(s))
		},
		"encodeURIComponent": func(s string) string {
			return strings.NewReplacer("+",
				"%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(s))
		},
		"encodeURI": func(s string) string {
			return strings.NewReplacer("+", "%20", "%3B", ";", "%2C", ",", "%2F", "/", "%3F", "?", "%3A", ":", "%40", "@", "%26", "&", "%3D", "=", "%2B", "+", "%24", "$",
				"%21", "!", "%2A", "*", "%27", "'", "%28", "(", "%29", ")", "%23", "#").Replace(url.QueryEscape(s))
		},
		"query": url.QueryEscape, "path": url.PathEscape, "HTML": html.EscapeString,
		"Python HTML": strings.NewReplacer("&",
			"&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace,
		"XML": func(s string) string {
			var b bytes.Buffer
			_ = xml.EscapeText(&b,
				[]byte(s))
			return b.String()
		},
		"CSV":     func(s string) string { return strings.ReplaceAll(s, `"`, `""`) },
		"slashes": func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
	}
	for _, value := range []string{
		"hunter2-0451", `pa"ss&word-9`, `back\slash\`, `<a href="/x?y&z">`, `it's "both" \& <more>`, `"quoted"`,
		"täg/ü", "😀smile", "a\tb\nc/d", `\\"\"`,
		"wJalr/K7+MDENG=bPx", "a b(c)*d!e'f/g;h,i?j:k@l&m=n+o$p#q",
	} {
		secrets := []Secret{NewSecret(value)}
		for first, inner := range encoders {
			for second, outer := range encoders {
				text := outer(inner(value))
				if got := maskAll("said: "+text+" end", secrets); strings.Contains(got, text) || got != "said: *** end" {
					t.Errorf("%q as %s in %s, %s, became %s", value, first, second, text, got)
				}
			}
		}
	}
}

// TestShortSecrets are masked where they are words, and leave numbers and other words alone.
func TestShortSecrets(t *testing.T) {
	for _, c := range []struct{ value, text, want string }{
		{
			"1", "[1/3] 1 of 21 took 0.1 s, 1.5 s, 1% of v1 and x_1 (1) key=1&b",
			"[***/3] *** of 21 took 0.1 s, 1.5 s, 1% of v1 and x_1 (***) key=***&b",
		},
		{"abc", "abcd abc xabc Bearer abc, \"abc\" abc", "abcd *** xabc Bearer ***, \"***\" ***"},
		{"é", "é été", "*** été"},
		{"a<b", `a<b "a\u003cb" xa<b`, `*** "***" xa<b`},
		{"12345", "123456 12345", "123456 ***"},
		{"123456", "1234567 0123456", "***7 0***"},
	} {
		if got := maskAll(c.text, []Secret{NewSecret(c.value)}); got != c.want {
			t.Errorf("%q: %s, want %s", c.value, got, c.want)
		}
	}
	const plan = "version: 1\nvars: {tok: {env: TOK, secret: true}, long: {env: LONG, secret: true}, none: " +
		"{env: NONE, secret: true}}\n" +
		"target: {backend: kserve, url: \"http://h/u${tok}\", model: m, headers: {a: \"x${tok}\", b: " +
		"\"${long}\", c: \"${none}\"}}\n" +
		"stages: [{id: s, load: {concurrency: 1}, for: 1s}]\n"
	values := map[string]string{"TOK": "zq751", "LONG": "zq7512", "NONE": ""}
	parsed, ds := Parse("plan.yaml",
		[]byte(plan), Overrides{Env: func(name string) (string, bool) { v, ok := values[name]; return v, ok }})
	if len(ds) != 1 || ds[0].Code != source.CodeShortSecret || ds[0].Severity != source.Warning ||
		ds[0].Pos.String() != "plan.yaml:2:8" || strings.Contains(fmt.Sprint(ds), "zq") {
		t.Errorf("diagnostics: %v", ds)
	}
	if text := fmt.Sprint(parsed.Resolved()); strings.Contains(text, "zq7") {
		t.Errorf("the resolved plan shows a short secret: %s", text)
	}
}

// TestDiagnosticsHideSecrets looks for a secret in all that is said of plans which hold it in the
// wrong places.
func TestDiagnosticsHideSecrets(t *testing.T) {
	const value = "hunter2-0451"
	plans := map[string]string{
		"default in the plan": "vars: {token: {default: " + value +
			", secret: true, type: int}}\nseed: \"${token}\"\n",
		"value of the wrong kind": "vars: {token: {env: TOKEN, secret: true}}\nseed: \"${token}\"\ntarget: " +
			"{backend: \"${token}\", url: \"${token}\", model: m, timeout: \"${token}\"}\n" +
			"stages: [{id: \"${token}\", load: {rate: \"${token}\"}, for: \"${token}\", target: \"${token}\", " +
			"needs: [\"${token}\"]}]\n",
		"profile": "vars: {token: {env: TOKEN, secret: true}}\nprofiles: {p: {vars: {token: " + value +
			"}, seed: \"" + value + "\"}}\n",
	}
	for name, plan := range plans {
		o := Overrides{
			Profiles: []string{"p"}, Vars: []string{"tokn=" + value, "token=" + value},
			Sets: []string{"stages.x.for=" + value},
			Env:  func(string) (string, bool) { return value, true },
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
