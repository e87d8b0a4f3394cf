package scenario

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/scenario/source"
)

var update = flag.Bool("update", false, "rewrite the expectations of the plans in testdata")

// planFile is a plan of testdata. Comment lines of its head are its overrides:
//
//	# var: NAME=VALUE      # set: PATH=VALUE      # env: NAME=VALUE      # profile: NAME      # var-file: FILE
//
// Comment lines of its end are the diagnostics that it must give, all of them and no others:
//
//	# want: [FILE:]LINE:COLUMN [warning ]CODE: SUMMARY
//	#  near: WORD
//	#  help: DETAIL
type planFile struct {
	path string
	text string // without the expectations
	want string
	overrides
}

type overrides struct {
	vars, sets, profiles, varFiles []string
	env                            map[string]string
}

func readPlanFile(t testing.TB, path string) planFile {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := planFile{path: path, text: string(data), overrides: overrides{env: map[string]string{}}}
	if i := strings.Index(p.text, "# want: "); i >= 0 {
		p.text, p.want = p.text[:i], p.text[i:]
	}
	for _, line := range strings.Split(p.text, "\n") {
		kind, value, _ := strings.Cut(line, ": ")
		switch kind {
		case "# var":
			p.vars = append(p.vars, value)
		case "# set":
			p.sets = append(p.sets, value)
		case "# profile":
			p.profiles = append(p.profiles, value)
		case "# var-file":
			p.varFiles = append(p.varFiles, filepath.Join(filepath.Dir(path), value))
		case "# env":
			name, text, _ := strings.Cut(value, "=")
			p.env[name] = text
		}
	}
	return p
}

func (p planFile) parse() (*Plan, source.Diagnostics) {
	return Parse(p.path, []byte(p.text), p.args())
}

func (o overrides) args() Overrides {
	return Overrides{
		Profiles: o.profiles, Vars: o.vars, VarFiles: o.varFiles, Sets: o.sets,
		Env: func(name string) (string, bool) { v, ok := o.env[name]; return v, ok },
	}
}

// expectations writes diagnostics as the end of a plan file has them.
func expectations(file string, ds source.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		at := fmt.Sprintf("%d:%d", d.Pos.Line, d.Pos.Column)
		if d.Pos.File != file {
			at = d.Pos.File + ":" + at
		}
		severity := ""
		if d.Severity != source.Error {
			severity = string(d.Severity) + " "
		}
		fmt.Fprintf(&b, "# want: %s %s%s: %s\n", at, severity, d.Code, d.Summary)
		if d.Nearest != "" {
			fmt.Fprintf(&b, "#  near: %s\n", d.Nearest)
		}
		if d.Detail != "" {
			fmt.Fprintf(&b, "#  help: %s\n", strings.ReplaceAll(d.Detail, "\n", `\n`))
		}
	}
	return b.String()
}

// TestBrokenPlans compares the diagnostics of every broken plan with those at its end.
func TestBrokenPlans(t *testing.T) {
	files, _ := filepath.Glob("../testdata/plans/broken/*.yaml")
	several := 0
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			p := readPlanFile(t, path)
			plan, ds := p.parse()
			if plan != nil || !ds.HasErrors() {
				t.Error("the plan was accepted")
			}
			checkPositions(t, p, ds)
			if len(ds) >= 3 {
				several++
			}
			got := expectations(path, ds)
			if *update {
				if err := os.WriteFile(path, []byte(p.text+got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(p.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
	if len(files) < 40 || several < 10 {
		t.Errorf("%d broken plans, %d of them with three mistakes or more", len(files), several)
	}
}

// checkPositions fails for a diagnostic that points nowhere, or outside of what it names.
func checkPositions(t *testing.T, p planFile, ds source.Diagnostics) {
	t.Helper()
	texts := map[string]string{
		p.path: p.text, "--set": strings.Join(p.sets, "\n"), "--var": strings.Join(p.vars, "\n"),
		"--profile": strings.Join(p.profiles, "\n"), "--var-file": strings.Join(p.varFiles, "\n"),
	}
	for _, d := range ds {
		if _, known := texts[d.Pos.File]; !known { // a base, or a file of variables
			data, err := os.ReadFile(d.Pos.File)
			if err != nil {
				t.Errorf("%s: points to no file: %s", d.Pos, d.Summary)
			}
			texts[d.Pos.File] = string(data)
		}
		if d.Summary == "" || d.Code == "" || d.Severity == "" {
			t.Errorf("a diagnostic lacks words: %+v", d)
		}
		lines := strings.Split(texts[d.Pos.File], "\n")
		if d.Pos.Line < 1 || d.Pos.Line > len(lines) || d.Pos.Column < 1 {
			t.Errorf("%s: points nowhere: %s", d.Pos, d.Summary)
			continue
		}
		if width := len([]rune(lines[d.Pos.Line-1])); d.Pos.Column > width+1 {
			t.Errorf("%s: points right of the line's %d characters: %s", d.Pos, width, d.Summary)
		}
	}
}
