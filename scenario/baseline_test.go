package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestOtherBaseline: --baseline replaces the plan's, whatever form that has, keeps if_missing, and
// is no other meaning.
func TestOtherBaseline(t *testing.T) {
	const rest = "version: 1\ntarget: {backend: kserve, url: \"builtin://http\", model: m}\nstages: [{id: " +
		"s, load: {concurrency: 1}, for: 1s}]\n"
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	plain := mustParse(t, rest, Overrides{})
	if err := os.WriteFile("new.json", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, ifMissing := range map[string]string{
		"": "inconclusive", "baseline: old.json\n": "inconclusive",
		"baseline: {file: old.json, if_missing: skip}\n": "skip",
	} {
		p := mustParse(t, rest+text, Overrides{Baseline: "new.json"})
		if want := filepath.Join(here, "new.json"); p.Baseline == nil || p.Baseline.File.Name != want ||
			p.Baseline.IfMissing != ifMissing || !p.Baseline.Named() {
			t.Errorf("%q: %+v, want %s, %s", text, p.Baseline, want, ifMissing)
		}
		if p.Fingerprint() != plain.Fingerprint() {
			t.Errorf("%q: what a plan is compared with changes its meaning", text)
		}
	}
	if p := mustParse(t, rest, Overrides{}); p.Baseline != nil {
		t.Errorf("without one: %+v", p.Baseline)
	}
}

// TestNamedBaselineIsThere: what --baseline names must be there, whatever if_missing says, and the
// mistake is shown at the flag.
func TestNamedBaselineIsThere(t *testing.T) {
	for _, baseline := range []string{
		"", "baseline: {file: old.json, if_missing: skip}\n", "baseline: old.json\n",
	} {
		for _, sets := range [][]string{nil, {"name=x", "description=y"}} {
			_, ds := Parse("plan.yaml", []byte("version: 1\ntarget: {backend: kserve, url: \"builtin://http\", "+
				"model: m}\nstages: [{id: s, load: {concurrency: 1}, for: 1s}]\n"+baseline),
				Overrides{Baseline: "typo/main.json", Sets: sets})
			if len(ds) != 1 || ds[0].Severity != source.Error || ds[0].Pos.String() != "--baseline" ||
				!strings.Contains(ds[0].Summary, "no such file") {
				t.Errorf("%q: %v", baseline, ds)
			}
		}
	}
}

// TestBaselineRead: only what the schema of results takes is read.
func TestBaselineRead(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"{}": "missing properties", "nonsense": "read result", "": "it is empty",
		`{"schema": "sluice/result/v2"}`: "",
	} {
		file := filepath.Join(dir, "r.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b := Baseline{File: Path{Name: file}}
		if _, err := b.Read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	b := Baseline{File: Path{Name: filepath.Join(dir, "none.json")}}
	if _, err := b.Read(); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}
