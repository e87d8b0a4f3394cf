package scenario

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of what is masked. A secret of fewer than shortSecret characters is masked where it is a word
// of its own: it would take half of the report with it. An encoded form of fewer than shortestForm
// bytes is not masked: it could be anything.
const (
	shortSecret  = 6
	shortestForm = 4
)

// form is one way in which a secret may be written.
type form struct {
	text string
	word bool // of a short secret
}

// formsOf lists how a value looks as it is, where something has encoded it, and where that was quoted
// once more; the longest first. A text in base64 may begin before the secret, which then has one of
// three forms.
func formsOf(value string) []form {
	if value == "" {
		return nil
	}
	texts := []string{value}
	add := func(text string) {
		if len(text) >= shortestForm && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, encode := range quotings() {
		add(encode(value))
	}
	for _, once := range slices.Clone(texts) {
		for _, encode := range quotings() {
			add(encode(once))
		}
	}
	add(hex.EncodeToString([]byte(value)))
	add(strings.ToUpper(hex.EncodeToString([]byte(value))))
	for _, e := range [...]*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := e.EncodeToString(append(make([]byte, before), value...))
			text = text[[...]int{0, 2, 3}[before]:] // characters that depend on what comes before
			if (before+len(value))%3 != 0 && text != "" {
				text = text[:len(text)-1] // and on what follows
			}
			add(text)
			add(url.QueryEscape(text))
			add(strings.ReplaceAll(text, "/", `\/`))
		}
	}
	forms := make([]form, len(texts))
	for i, text := range texts {
		forms[i] = form{text, utf8.RuneCountInString(value) < shortSecret}
	}
	return sorted(forms)
}

func sorted(forms []form) []form {
	slices.SortFunc(forms, func(a, b form) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text))
	})
	return forms
}

// quotings are the ways in which programs write a text inside of another one.
func quotings() []func(string) string {
	replace := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	quotes := func(double, single string) func(string) string {
		return func(s string) string {
			return replace("&#34;", double, "&#39;", single)(html.EscapeString(s))
		}
	}
	all := []func(string) string{
		jsonHTML, jsonPlain, jsonASCII,
		func(s string) string { return strings.ReplaceAll(jsonPlain(s), "/", `\/`) },
		func(s string) string { return inner(strconv.Quote(s)) },
		func(s string) string { return inner(strconv.QuoteToASCII(s)) },
		html.EscapeString, quotes("&quot;", "&#39;"), quotes("&quot;", "&#x27;"), quotes("&quot;", "&#039;"),
		quotes("&quot;", "&apos;"),
		replace("&", "&amp;", "<", "&lt;", ">", "&gt;"),
		// encoding/xml
		replace("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\t", "&#x9;",
			"\n", "&#xA;", "\r", "&#xD;"),
		replace("/", `\/`),
		replace(`"`, `""`), // CSV
	}
	for _, escape := range [...]func(string) string{
		url.QueryEscape, url.PathEscape,
		escapeAllBut("/"),                // urllib.parse.quote
		escapeAllBut("!'()*"),            // encodeURIComponent
		escapeAllBut(";,/?:@&=+$!*'()#"), // encodeURI
	} {
		all = append(all, escape, func(s string) string {
			return percent.ReplaceAllStringFunc(escape(s), strings.ToLower)
		})
	}
	return all
}

// escapeAllBut writes a text as it is in a URL, where an encoder leaves the characters of keep as
// they are.
func escapeAllBut(keep string) func(string) string {
	pairs := []string{"+", "%20"}
	for _, c := range []byte(keep) {
		pairs = append(pairs, url.QueryEscape(string(c)), string(c))
	}
	undo := strings.NewReplacer(pairs...)
	return func(s string) string { return undo.Replace(url.QueryEscape(s)) }
}

var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// inner is a quoted text without its quotation marks.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// jsonHTML writes JSON as encoding/json does: <, > and & are escaped.
func jsonHTML(s string) string {
	quoted, _ := json.Marshal(s) // a text always has a JSON form
	return inner(string(quoted))
}

// jsonPlain leaves <, > and & as they are.
func jsonPlain(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return inner(strings.TrimSuffix(b.String(), "\n"))
}

// jsonASCII escapes all that is not ASCII, as Python does.
func jsonASCII(s string) string {
	var b strings.Builder
	for _, r := range jsonPlain(s) {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			b.WriteString(`\u` + strconv.FormatUint(uint64(unit)|1<<16, 16)[1:])
		}
	}
	return b.String()
}
