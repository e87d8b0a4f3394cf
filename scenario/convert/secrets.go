package convert

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/secret"
)

// hide puts marks in the place of the secrets of an argument.
func (l *line) hide(g given) {
	prefix, found := strings.CutSuffix(l.args[g.at], g.value)
	if !found {
		return // hidden as the rest of another one
	}
	l.args[g.at] = prefix + l.secrets.Hide(g.value, g.String(), secretsIn(g))
	if unquoted(g) {
		l.hideRest(g)
	}
}

// unquoted reports whether a header's secret may go on in arguments of its own, for want of quotes.
func unquoted(g given) bool {
	name, value, ok := secret.CutHeader(g.value)
	return isHeader(g.option) && ok && secret.IsName(name) && !strings.Contains(value, " ")
}

// hideRest hides the words that follow a header without quotes.
func (l *line) hideRest(g given) {
	for i := g.at + 1; i < len(l.args) && !strings.HasPrefix(l.args[i], "-"); i++ {
		if g.many && strings.ContainsAny(l.args[i], ":=") {
			return
		}
		l.args[i] = secret.Masked
	}
}

// secretsIn finds the secrets in the value of an option: of headers, keys, URLs and fields of requests.
func secretsIn(g given) []secret.Found {
	switch {
	case g.value == "":
		return nil
	case isHeader(g.option):
		return secret.InHeader(g.value)
	case slices.Contains(g.names, "api-key"):
		return secret.Whole(g.value)
	case strings.HasPrefix(strings.TrimSpace(g.value), "{"):
		return secret.InJSON(g.value)
	case strings.HasPrefix(g.option.value, "NAME:VALUE"):
		return secret.InField(g.value)
	}
	return secret.InURL(g.value, strings.HasPrefix(g.option.value, "URL"))
}

func isHeader(o *option) bool { return slices.Contains(o.names, "header") || o.short == 'H' }

// takeLogin takes the user out of the URLs of an option: a plan's URLs have none.
func (r *reader) takeLogin(g given) given {
	var marks []string
	g.value, marks = r.secrets.TakeLogin(g.value)
	for _, mark := range marks {
		switch {
		case strings.HasPrefix(g.plan, "no equal:") || strings.HasPrefix(g.plan, "nothing:"):
		case !slices.Contains([]string{"--url", "--base-url", "-u"}, g.option.String()):
			r.left = append(r.left, note{
				g.String(), "the user of its URL is left out: a plan reads such addresses without one",
			})
		case r.login != "" && r.login != mark:
			r.left = append(r.left, note{
				g.String(),
				"servers with users of their own: that of the first is sent to each",
			})
		default:
			r.login = mark
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
