// Package secret finds secrets in what is given to the tools of this folder's parent, and keeps them out of
// plans: a secret becomes a variable of the plan, which reads it from the environment.
//
//	text  →  Found      headers, API keys, fields of requests, users and keys of URLs
//	List  →  Hide       marks in the place of what was found: no other code sees a secret
//	      →  Shown      *** for each mark, in what is shown
//	      →  Place      ${NAME} for each mark, and the variables, in a plan
//
// It is not: a store of secrets, nor what masks them in a run (scenario does).
package secret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
)

// Secret is a text of a command line that its plan does not hold: a variable of the plan reads it from the
// environment.
type Secret struct {
	Option string // where it was given
	Name   string // of the variable
	Env    string // the environment variable
	Form   string // what Env holds
	Value  string // of Env; "": the command line names Env itself, which no shell has expanded
}

// Mark returns the place of a secret in a value.
func (s Secret) Mark() string { return "⟦" + s.Name + "⟧" }

// Masked is shown in the place of a secret.
const Masked = "***"

// List holds the secrets that were found.
type List struct {
	All      []Secret
	Reserved string // a name that no variable gets: the plan has one
}

// Shown returns a text as it may be shown.
func (l *List) Shown(text string) string {
	for _, s := range l.All {
		text = strings.ReplaceAll(text, s.Mark(), Masked)
	}
	return text
}

// Place puts the variables of the secrets that a plan uses into it, after those of its own, before line at.
// It returns these secrets.
func (l *List) Place(p *plantext.Page, at int, own []plantext.Line) (used []Secret) {
	vars := slices.Clone(own)
	for _, s := range l.All {
		found := false
		for i, line := range p.Lines {
			text := strings.ReplaceAll(line.Text, s.Mark(), "${"+s.Name+"}")
			found = found || text != line.Text
			p.Lines[i] = plantext.Line{Text: text, Comment: strings.ReplaceAll(line.Comment, s.Mark(), Masked)}
		}
		if found {
			used = append(used, s)
			vars = append(vars, plantext.Line{
				Text:    "  " + s.Name + ": " + plantext.Flow("env: "+s.Env, "secret: true"),
				Comment: s.Option + ": " + s.Form,
			})
		}
	}
	if len(vars) > 0 {
		p.Lines = slices.Insert(p.Lines, at, slices.Concat([]plantext.Line{{Text: "vars:"}}, vars,
			[]plantext.Line{{}})...)
	}
	return used
}

// Hide returns a text with marks in the place of what was found in it; option is where it was given.
func (l *List) Hide(text, option string, found []Found) string {
	slices.SortFunc(found, func(a, b Found) int { return b.From - a.From })
	for _, f := range found {
		f.Option = option
		text = text[:f.From] + l.keep(f.Secret) + text[f.To:]
	}
	return text
}

// TakeLogin returns a text of URLs without their users, and the marks of these: a plan's URLs have none.
func (l *List) TakeLogin(text string) (rest string, marks []string) {
	for _, s := range l.All {
		if strings.HasPrefix(s.Name, login) && strings.Contains(text, s.Mark()+"@") {
			text, marks = strings.ReplaceAll(text, s.Mark()+"@", ""), append(marks, s.Mark())
		}
	}
	return text, marks
}

// login is the variable of the user of a URL, whose value is that of the header Authorization, after Basic.
const login = "credentials"

// Found is a secret in a text, and its place there.
type Found struct {
	From, To int // bytes
	Secret
}

// keep adds a secret to the list, once, and returns its mark.
func (l *List) keep(s Secret) string {
	fromShell := false
	if written, name := shell.Variable(s.Value); written != "" && written == s.Value {
		s.Env, s.Value, fromShell = name, "", true
	} else if written != "" {
		s.Form += ", in which no shell has expanded " + written
	}
	same := func(o Secret) bool { return o.Value == s.Value && (!fromShell || o.Env == s.Env) }
	if i := slices.IndexFunc(l.All, same); i >= 0 {
		return l.All[i].Mark()
	}
	name, env := s.Name, s.Env
	taken := func(o Secret) bool { return o.Name == s.Name || o.Env == s.Env }
	for n := 2; s.Name == l.Reserved || slices.ContainsFunc(l.All, taken); n++ {
		s.Name = fmt.Sprintf("%s%d", name, n)
		if !fromShell {
			s.Env = fmt.Sprintf("%s_%d", env, n)
		}
	}
	l.All = append(l.All, s)
	return s.Mark()
}

// Whole takes all of a text for an API key.
func Whole(text string) []Found {
	return []Found{{0, len(text), Secret{Name: "api_key", Env: "API_KEY", Form: "the key", Value: text}}}
}

// CutHeader cuts NAME:VALUE or NAME=VALUE.
func CutHeader(text string) (name, value string, ok bool) {
	at := strings.IndexAny(text, ":=")
	if at < 0 {
		return text, "", false
	}
	return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:]), true
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z-]*\s+`)

// InHeader finds the secret of a header; the scheme in front of it, as Bearer, is none.
func InHeader(text string) []Found {
	name, value, ok := CutHeader(text)
	if !ok || value == "" || !IsName(name) {
		return nil
	}
	variable := variableName(name)
	s := Secret{Name: variable, Env: strings.ToUpper(variable), Form: "the value of the header"}
	if variable == "authorization" {
		s.Name, s.Env = "token", "SERVER_TOKEN"
	}
	if word := scheme.FindString(value); word != "" && strings.HasSuffix(variable, "authorization") {
		value = value[len(word):]
		s.Form = fmt.Sprintf("what follows %q in the header", strings.TrimSpace(word))
	}
	s.Value = value
	end := len(strings.TrimRight(text, " \t\r\n"))
	return []Found{{end - len(value), end, s}}
}

// InField finds the secret of NAME:VALUE or NAME:VALUE:TYPE.
func InField(text string) []Found {
	parts := strings.SplitN(text, ":", 3)
	if len(parts) < 2 || parts[1] == "" || !isField(parts[0]) {
		return nil
	}
	from := len(parts[0]) + 1
	name := variableName(parts[0])
	return []Found{{from, from + len(parts[1]), Secret{
		Name: name, Env: strings.ToUpper(name), Form: "the value of the field", Value: parts[1],
	}}}
}

var jsonText = regexp.MustCompile(`"([^"\\]+)"\s*:\s*"((?:[^"\\]|\\.)+)"`)

// InJSON finds the secrets among the texts of a JSON object.
func InJSON(object string) (all []Found) {
	for _, m := range jsonText.FindAllStringSubmatchIndex(object, -1) {
		field, text := object[m[2]:m[3]], ""
		if !isField(field) && !IsName(field) || json.Unmarshal([]byte(object[m[4]-1:m[5]+1]), &text) != nil {
			continue
		}
		name := variableName(field)
		all = append(all, Found{m[4], m[5], Secret{
			Name: name, Env: strings.ToUpper(name), Form: "the value of the field", Value: text,
		}})
	}
	return all
}

var (
	userOfURL = regexp.MustCompile(`(?:^|,|://)([^/@\s,:]+:[^/@\s,]*)@|://([^/@\s,]+)@`)
	keyOfURL  = regexp.MustCompile(`[?&]([A-Za-z0-9_.-]+)=([^&#\s,]+)`)
)

// InURL finds the user of URLs, and the keys in their queries; isURL: a text without a scheme is a URL too.
func InURL(text string, isURL bool) (all []Found) {
	isURL = isURL || strings.Contains(text, "://")
	for _, m := range userOfURL.FindAllStringSubmatchIndex(text, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		if isURL {
			all = append(all, Found{from, to, Secret{
				Name: login, Env: "SERVER_CREDENTIALS", Form: "the Base64 of USER:PASSWORD",
				Value: base64.StdEncoding.EncodeToString([]byte(userAndPassword(text[from:to]))),
			}})
		}
	}
	for _, m := range keyOfURL.FindAllStringSubmatchIndex(text, -1) {
		if name := text[m[2]:m[3]]; IsName(name) {
			name = variableName(name)
			all = append(all, Found{m[4], m[5], Secret{
				Name: name, Env: strings.ToUpper(name), Form: "the key of the URL", Value: text[m[4]:m[5]],
			}})
		}
	}
	return all
}

// userAndPassword returns the text that HTTP sends for the user of a URL.
func userAndPassword(text string) string {
	user, password, _ := strings.Cut(text, ":")
	plain := func(s string) string {
		if p, err := url.PathUnescape(s); err == nil {
			return p
		}
		return s
	}
	return plain(user) + ":" + plain(password)
}

// secretWords are the ends of words in names of secrets.
var secretWords = regexp.MustCompile(
	`(?i)(authorization|auth|token|key|secret|cookie|password|passwd|credentials?|jwt)([^a-z]|$)`)

// IsName reports whether a header, an option or a key of this name most likely holds a secret.
func IsName(name string) bool { return secretWords.MatchString(name) }

var secretFields = regexp.MustCompile(
	`(?i)(api.?key|secret|passw(or)?d|authorization|credential|(auth|access|api|bearer).?token)`)

// isField reports whether a field of requests most likely holds a secret: stop_token does not.
func isField(name string) bool { return secretFields.MatchString(name) }

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// variableName returns the name of a variable for that of a header or a field.
func variableName(name string) string {
	name = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name == "" || name[0] <= '9' {
		return "secret_" + name
	}
	return name
}
