package secret_test

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/secret"
)

// TestFind: a secret is found where it begins and ends, with its variable; what only looks like one is none.
func TestFind(t *testing.T) {
	url := func(text string) []secret.Found { return secret.InURL(text, true) }
	for _, c := range []struct {
		in                  func(string) []secret.Found
		text, hidden, shown string
		name, env, value    string
	}{
		{secret.InHeader, "Authorization: Bearer abc ", "Authorization: Bearer ${token} ", "Authorization: Bearer *** ", "token", "SERVER_TOKEN", "abc"},
		{secret.InHeader, "authorization=abc", "authorization=${token}", "authorization=***", "token", "SERVER_TOKEN", "abc"},
		{secret.InHeader, "X-Api-Key:a b", "X-Api-Key:${x_api_key}", "X-Api-Key:***", "x_api_key", "X_API_KEY", "a b"},
		{secret.InHeader, "7-key:a", "7-key:${secret_7_key}", "7-key:***", "secret_7_key", "SECRET_7_KEY", "a"},
		{secret.InHeader, "Authorization: Bearer $KEY", "Authorization: Bearer ${token}", "Authorization: Bearer ***", "token", "KEY", ""},
		{secret.InHeader, "x-max-tokens: 5", "", "", "", "", ""},
		{secret.InHeader, "Authorization:", "", "", "", "", ""},
		{secret.InField, "api_key:abc:string", "api_key:${api_key}:string", "api_key:***:string", "api_key", "API_KEY", "abc"},
		{secret.InField, "stop_token:abc", "", "", "", "", ""},
		{secret.InJSON, `{"a": {"api_key": "x\"y"}}`, `{"a": {"api_key": "${api_key}"}}`, `{"a": {"api_key": "***"}}`, "api_key", "API_KEY", `x"y`},
		{secret.InJSON, `{"max_tokens": 5, "stop": "END"}`, "", "", "", "", ""},
		{url, "http://me:a%40b@h:1/v1", "http://${credentials}@h:1/v1", "http://***@h:1/v1", "credentials", "SERVER_CREDENTIALS", "bWU6YUBi"},
		{url, "me:ab@h:1", "${credentials}@h:1", "***@h:1", "credentials", "SERVER_CREDENTIALS", "bWU6YWI="},
		{url, "https://token@h", "https://${credentials}@h", "https://***@h", "credentials", "SERVER_CREDENTIALS", "dG9rZW46"},
		{url, "http://h/v1?api-key=abc&n=1", "http://h/v1?api-key=${api_key}&n=1", "http://h/v1?api-key=***&n=1", "api_key", "API_KEY", "abc"},
		{url, "http://h/a@b:c", "", "", "", "", ""},
	} {
		var l secret.List
		found := c.in(c.text)
		if c.hidden == "" {
			if len(found) > 0 {
				t.Errorf("%s: %v", c.text, found)
			}
			continue
		}
		text := l.Hide(c.text, "-x", found)
		var p plantext.Page
		p.Add("a", "")
		p.Add(text, text)
		used := l.Place(&p, 1, nil)
		if l.Shown(text) != c.shown || len(used) != 1 || used[0].Name != c.name || used[0].Env != c.env || used[0].Value != c.value {
			t.Errorf("%s: %q, %+v", c.text, l.Shown(text), used)
			continue
		}
		last := p.Lines[len(p.Lines)-1]
		if last.Text != c.hidden || last.Comment != c.shown || p.Lines[1].Text != "vars:" {
			t.Errorf("%s: %+v", c.text, p.Lines)
		}
	}
}

// TestNames: two secrets have two variables, one that is given twice has one, and no variable has the reserved name.
func TestNames(t *testing.T) {
	l := secret.List{Reserved: "api_key"}
	for _, text := range []string{"Authorization: Bearer a", "authorization: Bearer b", "AUTHORIZATION: Basic a", "api-key: c"} {
		l.Hide(text, "-H", secret.InHeader(text))
	}
	var list []string
	for _, s := range l.All {
		list = append(list, s.Name+"="+s.Env)
	}
	names := strings.Join(list, " ")
	if want := "token=SERVER_TOKEN token2=SERVER_TOKEN_2 api_key2=API_KEY_2"; names != want {
		t.Errorf("%s, want %s", names, want)
	}
}
