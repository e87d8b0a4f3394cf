package scenario

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestRequired: a required variable has no value without one from outside, whatever its default,
// and an empty text is none.
func TestRequired(t *testing.T) {
	const rest = "target: {backend: kserve, url: \"http://h:1\", model: m, headers: {A: \"${v}\"}}\n" +
		"stages: [{id: s, load: {concurrency: 1}, for: 1s}]\n"
	for _, row := range []struct {
		vars, profile string // of the plan, and of the profile p
		env, arg      string // of E and F: KEY=VALUE; of --var
		want          string // "!": the value is missing
	}{
		{"{env: E, default: d}", "", "", "", "d"},
		{"{env: E, default: d}", "", "E=", "", ""},
		{"{env: E, default: d, required: true}", "", "", "", "!"},
		{"{env: E, required: true}", "", "", "", "!"},
		{"{env: E, required: true}", "", "E=", "", "!"},
		{"{env: E, required: true}", "", "E=x", "", "x"},
		{"{env: E, required: true}", "", "E=x", "v=", "!"},
		{"{env: E, required: true}", "", "E=", "v=y", "y"},
		{"{default: d}", "{required: true}", "", "", "!"},
		{"{default: d}", "{required: true}", "", "v=y", "y"},
		{"{default: d, env: E}", "{env: F}", "E=x", "", "d"},
		{"{default: d, env: E}", "{env: F}", "F=z", "", "z"},
		{"{default: d, env: E, secret: true}", "{env: F, required: true}", "E=x", "", "!"},
		{"{default: d, required: true}", "{required: false}", "", "", "d"},
		{"{default: d}", "{default: e}", "", "", "e"},
		{"{default: d, required: true}", "e", "", "", "!"},
		{"d", "{required: true, env: F}", "F=z", "", "z"},
	} {
		text := "version: 1\nvars: {v: " + row.vars + "}\n" + rest
		o := Overrides{Env: func(name string) (string, bool) {
			key, value, _ := strings.Cut(row.env, "=")
			return value, key == name
		}}
		if row.profile != "" {
			text += "profiles: {p: {vars: {v: " + row.profile + "}}}\n"
			o.Profiles = []string{"p"}
		}
		if row.arg != "" {
			o.Vars = []string{row.arg}
		}
		plan, diags := Parse("p", []byte(text), o)
		got := "!"
		if plan != nil {
			got = plan.Vars[0].Text
		} else if len(diags) != 1 || diags[0].Code != source.CodeVarMissing {
			t.Errorf("%+v: %v", row, diags)
		}
		if got != row.want {
			t.Errorf("%+v: the value is %q: %v", row, got, diags)
		}
	}
}
