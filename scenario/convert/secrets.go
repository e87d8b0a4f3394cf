package convert

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
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

// A mark is the place of a secret in a value: *** in what is shown, ${NAME} in the plan. No taker sees a
// secret itself.
func (s *Secret) mark() string { return "⟦" + s.Name + "⟧" }

// masked is shown in the place of a secret.
const masked = "***"

// shown returns a text as it may be shown.
func (l *line) shown(text string) string {
	for i := range l.secrets {
		text = strings.ReplaceAll(text, l.secrets[i].mark(), masked)
	}
	return text
}

// placed returns a text of the plan.
func (l *line) placed(text string) string {
	for i := range l.secrets {
		text = strings.ReplaceAll(text, l.secrets[i].mark(), "${"+l.secrets[i].Name+"}")
	}
	return text
}

// foundSecret is a secret in the value of an option.
type foundSecret struct {
	from, to int // bytes of the value
	Secret
}

// hide puts marks in the place of the secrets of an argument.
func (l *line) hide(g given) {
	prefix, found := strings.CutSuffix(l.args[g.at], g.value)
	if !found {
		return // hidden as the rest of another one
	}
	value := g.value
	all := secretsIn(g)
	slices.SortFunc(all, func(a, b foundSecret) int { return b.from - a.from })
	for _, f := range all {
		f.Option = g.String()
		value = value[:f.from] + l.keep(f.Secret) + value[f.to:]
	}
	l.args[g.at] = prefix + value
	if unquoted(g) {
		l.hideRest(g)
	}
}

// unquoted reports whether a header's secret may go on in arguments of its own, for want of quotes.
func unquoted(g given) bool {
	name, value, ok := cutHeader(g.value)
	return isHeader(g.option) && ok && isSecret(name) && !strings.Contains(value, " ")
}

// hideRest hides the words that follow a header without quotes.
func (l *line) hideRest(g given) {
	for i := g.at + 1; i < len(l.args) && !strings.HasPrefix(l.args[i], "-"); i++ {
		if g.many && strings.ContainsAny(l.args[i], ":=") {
			return
		}
		l.args[i] = masked
	}
}

// keep adds a secret to the list, once, and returns its mark.
func (l *line) keep(s Secret) string {
	fromShell := false
	if name := wholeVariable.FindStringSubmatch(s.Value); name != nil {
		s.Env, s.Value, fromShell = cmp.Or(name[1], name[2]), "", true
	} else if name := shellVariable.FindString(s.Value); name != "" {
		s.Form += ", in which no shell has expanded " + name
	}
	same := func(o Secret) bool { return o.Value == s.Value && (!fromShell || o.Env == s.Env) }
	if i := slices.IndexFunc(l.secrets, same); i >= 0 {
		return l.secrets[i].mark()
	}
	name, env := s.Name, s.Env
	taken := func(o Secret) bool { return o.Name == s.Name || o.Env == s.Env }
	for n := 2; s.Name == keyVariable && l.program == vllmProgram || slices.ContainsFunc(l.secrets, taken); n++ {
		s.Name = fmt.Sprintf("%s%d", name, n)
		if !fromShell {
			s.Env = fmt.Sprintf("%s_%d", env, n)
		}
	}
	l.secrets = append(l.secrets, s)
	return s.mark()
}

// keyVariable is the variable of an API key; of vLLM it is the one that vLLM reads from the environment itself.
const keyVariable = "api_key"

const vllmProgram = "vllm bench serve"

var wholeVariable = regexp.MustCompile(`^\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))$`)

// secretsIn finds the secrets in the value of an option: of headers, keys, URLs and fields of requests.
func secretsIn(g given) (all []foundSecret) {
	switch {
	case g.value == "":
		return nil
	case isHeader(g.option):
		return headerSecret(g.value)
	case slices.Contains(g.names, "api-key"):
		return []foundSecret{{0, len(g.value), Secret{Name: keyVariable, Env: "API_KEY", Form: "the key", Value: g.value}}}
	case strings.HasPrefix(strings.TrimSpace(g.value), "{"):
		return jsonSecrets(g.value)
	case strings.HasPrefix(g.option.value, "NAME:VALUE"):
		return fieldSecret(g.value)
	}
	return urlSecrets(g)
}

func isHeader(o *option) bool { return slices.Contains(o.names, "header") || o.short == 'H' }

// cutHeader cuts NAME:VALUE or NAME=VALUE.
func cutHeader(text string) (name, value string, ok bool) {
	at := strings.IndexAny(text, ":=")
	if at < 0 {
		return text, "", false
	}
	return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:]), true
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z-]*\s+`)

// headerSecret finds the secret of a header; the scheme in front of it, as Bearer, is none.
func headerSecret(text string) []foundSecret {
	name, value, ok := cutHeader(text)
	if !ok || value == "" || !isSecret(name) {
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
	return []foundSecret{{end - len(value), end, s}}
}

// fieldSecret finds the secret of NAME:VALUE or NAME:VALUE:TYPE.
func fieldSecret(text string) []foundSecret {
	parts := strings.SplitN(text, ":", 3)
	if len(parts) < 2 || parts[1] == "" || !isSecretField(parts[0]) {
		return nil
	}
	from := len(parts[0]) + 1
	name := variableName(parts[0])
	return []foundSecret{{from, from + len(parts[1]), Secret{
		Name: name, Env: strings.ToUpper(name), Form: "the value of the field", Value: parts[1],
	}}}
}

var jsonText = regexp.MustCompile(`"([^"\\]+)"\s*:\s*"((?:[^"\\]|\\.)+)"`)

// jsonSecrets finds the secrets among the texts of a JSON object.
func jsonSecrets(object string) (all []foundSecret) {
	for _, m := range jsonText.FindAllStringSubmatchIndex(object, -1) {
		field, text := object[m[2]:m[3]], ""
		if !isSecretField(field) && !isSecret(field) || json.Unmarshal([]byte(object[m[4]-1:m[5]+1]), &text) != nil {
			continue
		}
		name := variableName(field)
		all = append(all, foundSecret{m[4], m[5], Secret{
			Name: name, Env: strings.ToUpper(name), Form: "the value of the field", Value: text,
		}})
	}
	return all
}

var (
	userOfURL = regexp.MustCompile(`(?:^|,|://)([^/@\s,:]+:[^/@\s,]*)@|://([^/@\s,]+)@`)
	keyOfURL  = regexp.MustCompile(`[?&]([A-Za-z0-9_.-]+)=([^&#\s,]+)`)
)

// urlSecrets finds the user of URLs, and the keys in their queries.
func urlSecrets(g given) (all []foundSecret) {
	isURL := strings.HasPrefix(g.option.value, "URL") || strings.Contains(g.value, "://")
	for _, m := range userOfURL.FindAllStringSubmatchIndex(g.value, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		if isURL {
			all = append(all, foundSecret{from, to, Secret{
				Name: login, Env: "SERVER_CREDENTIALS", Form: "the Base64 of USER:PASSWORD",
				Value: base64.StdEncoding.EncodeToString([]byte(userAndPassword(g.value[from:to]))),
			}})
		}
	}
	for _, m := range keyOfURL.FindAllStringSubmatchIndex(g.value, -1) {
		if name := g.value[m[2]:m[3]]; isSecret(name) {
			name = variableName(name)
			all = append(all, foundSecret{m[4], m[5], Secret{
				Name: name, Env: strings.ToUpper(name), Form: "the key of the URL", Value: g.value[m[4]:m[5]],
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

// login is the variable of the user of a URL, which becomes the header Authorization.
const login = "credentials"

// takeLogin takes the user out of the URLs of an option: a plan's URLs have none.
func (r *reader) takeLogin(g given) given {
	for i := range r.secrets {
		s := &r.secrets[i]
		if !strings.HasPrefix(s.Name, login) || !strings.Contains(g.value, s.mark()+"@") {
			continue
		}
		g.value = strings.ReplaceAll(g.value, s.mark()+"@", "")
		switch {
		case strings.HasPrefix(g.plan, "no equal:") || strings.HasPrefix(g.plan, "nothing:"):
		case !slices.Contains([]string{"--url", "--base-url", "-u"}, g.option.String()):
			r.left = append(r.left, note{g.String(), "the user of its URL is left out: a plan reads such addresses without one"})
		case r.login != "" && r.login != s.mark():
			r.left = append(r.left, note{g.String(), "servers with users of their own: that of the first is sent to each"})
		default:
			r.login = s.mark()
		}
	}
	return g
}

// authorize adds the header of the URL's user, unless there is one.
func (r *reader) authorize(headers *[]pair) {
	named := func(h pair) bool { return strings.EqualFold(h.name, "Authorization") }
	if r.login != "" && !slices.ContainsFunc(*headers, named) {
		*headers = append(*headers, pair{"Authorization", "Basic " + r.login})
	}
}

// secretWords are the ends of words in names of secrets.
var secretWords = regexp.MustCompile(
	`(?i)(authorization|auth|token|key|secret|cookie|password|passwd|credentials?|jwt)([^a-z]|$)`)

// isSecret reports whether a header, an option or a key of this name most likely holds a secret.
func isSecret(name string) bool { return secretWords.MatchString(name) }

var secretFields = regexp.MustCompile(
	`(?i)(api.?key|secret|passw(or)?d|authorization|credential|(auth|access|api|bearer).?token)`)

// isSecretField reports whether a field of requests most likely holds a secret: stop_token does not.
func isSecretField(name string) bool { return secretFields.MatchString(name) }

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// variableName returns the name of a variable for that of a header or a field.
func variableName(name string) string {
	name = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name == "" || name[0] <= '9' {
		return "secret_" + name
	}
	return name
}
