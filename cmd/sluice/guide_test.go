package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
)

// guide is plans/README.md, plansDir its folder.
var (
	plansDir = filepath.Join("..", "..", "plans")
	guide    = filepath.Join(plansDir, "README.md")
)

// example is a block of the guide that shows a plan of the folder:
//
//	```yaml file=NAME [whole] [run]
//
// What it shows is the file, less the comment that it begins with and less the head, which the
// guide shows once; all of it with "whole". One with "run" is played, and must come to what
// testdata/outline/NAME.txt says.
type example struct {
	file       string // its name
	text       string // as the guide has it
	whole, run bool
}

var (
	block = regexp.MustCompile("(?ms)^```yaml file=(\\S+)([^\n]*)\n(.*?)^```$")
	intro = regexp.MustCompile(`^(?:#[^\n]*\n)+`)
	// head is what the guide leaves out of what it shows.
	head = []string{"version: 1\n", "target: {backend: kserve, url: \"builtin://http\", model: slow}\n"}
)

// examples reads the guide.
func examples(t *testing.T) []example {
	t.Helper()
	data, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	for _, m := range block.FindAllStringSubmatch(string(data), -1) {
		e := example{file: m[1], text: m[3]}
		for _, word := range strings.Fields(m[2]) {
			switch word {
			case "whole":
				e.whole = true
			case "run":
				e.run = true
			default:
				t.Errorf("example %s: %q is not a word of this test", e.file, word)
			}
		}
		list = append(list, e)
	}
	return list
}

// shown is what the guide shows of the file.
func (e example) shown(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(plansDir, e.file))
	if err != nil {
		t.Fatal(err)
	}
	text := intro.ReplaceAllString(string(data), "")
	for _, line := range head {
		if !e.whole {
			text = strings.TrimPrefix(text, line)
		}
	}
	return text
}

// TestGuideShowsPlans: the guide and the plans beside it are the same. UPDATE_GUIDE=1 puts the
// plans into the guide.
func TestGuideShowsPlans(t *testing.T) {
	if os.Getenv("UPDATE_GUIDE") != "" {
		data, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		list, i := examples(t), -1
		text := block.ReplaceAllStringFunc(string(data), func(old string) string {
			i++
			first, _, _ := strings.Cut(old, "\n")
			return first + "\n" + list[i].shown(t) + "```"
		})
		if err := os.WriteFile(guide, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[string]bool)
	for _, e := range examples(t) {
		if diff := cmp.Diff(e.shown(t), e.text); diff != "" {
			t.Errorf("%s in the guide is not the plan: UPDATE_GUIDE=1 go test ./cmd/sluice -run "+
				"TestGuideShowsPlans (-plan +guide)\n%s", e.file, diff)
		}
		if seen[e.file] {
			t.Errorf("the guide shows %s twice", e.file)
		}
		seen[e.file] = true
	}
}

// compiles demands a plan without any diagnostic, not even a warning. That there is no baseline yet
// is none of the plan's.
func compiles(t *testing.T, file string) {
	t.Helper()
	a := &app{env: func(string) (string, bool) { return "", false }}
	compiled, diags := a.load(file, overrides{})
	for _, d := range diags {
		if strings.Contains(d.Detail, "assertions with `baseline` will be skipped") {
			continue
		}
		t.Errorf("%s: %s %s", d.Pos, d.Summary, d.Detail)
	}
	if compiled == nil {
		t.FailNow()
	}
}

// TestGuide plays the examples of the guide, each against an embedded server of its own.
func TestGuide(t *testing.T) {
	t.Parallel()
	runs := 0
	for _, e := range examples(t) {
		if !e.run {
			continue
		}
		if runs++; !cases.Runs(runs, 3) {
			continue
		}
		t.Run(e.file, func(t *testing.T) {
			t.Parallel()
			comesTo(t, strings.TrimSuffix(e.file, ".yaml"), filepath.Join(plansDir, e.file))
		})
	}
	if runs < 25 {
		t.Errorf("%d examples of the guide are run", runs)
	}
}

// TestGuideCommands plays the commands of the guide, in order, in a copy of the folder.
func TestGuideCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(plansDir)); err != nil {
		t.Fatal(err)
	}
	if commands := tour(t, dir, "plans/README.md", string(text)); commands < 12 {
		t.Errorf("the guide has %d commands", commands)
	}
}

// TestPlans: every plan in plans has no mistake, draws no warning and is in the guide, as an
// example or as a link. Those that are not examples take longer; two are played here, the others by
// .ci/run.
func TestPlans(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(plansDir, "*.yaml"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d plans in %s: %v", len(files), plansDir, err)
	}
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	list := examples(t)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := slices.ContainsFunc(list, func(e example) bool { return e.file == name })
			if !shown && !strings.Contains(string(text), "]("+name+")") {
				t.Errorf("the guide neither shows %s nor links it", name)
			}
			compiles(t, file)
			if name == "ladder.yaml" || name == "simple.yaml" {
				comesTo(t, strings.TrimSuffix(name, ".yaml"), file)
			}
		})
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^):]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinks: each link of the README and of the guide inside the repository leads to a file or a heading.
func TestLinks(t *testing.T) {
	for _, page := range []string{filepath.Join("..", "..", "README.md"), guide} {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		anchors := make(map[string]bool)
		for _, m := range heading.FindAllStringSubmatch(string(data), -1) {
			plain := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
			anchors["#"+strings.ReplaceAll(plain, " ", "-")] = true
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if strings.HasPrefix(m[1], "#") {
				if !anchors[m[1]] {
					t.Errorf("%s: no heading has the anchor %s", page, m[1])
				}
			} else if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
