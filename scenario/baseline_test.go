package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherBaseline: --baseline replaces the plan's, whatever form that has, keeps if_missing, and is no other meaning.
func TestOtherBaseline(t *testing.T) {
	const rest = "version: 1\ntarget: {backend: kserve, url: \"builtin://http\", model: m}\nstages: [{id: s, load: {concurrency: 1}, for: 1s}]\n"
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	plain := mustParse(t, rest, Overrides{})
	for text, ifMissing := range map[string]string{
		"": "inconclusive", "baseline: old.json\n": "inconclusive", "baseline: {file: old.json, if_missing: skip}\n": "skip",
	} {
		p := mustParse(t, rest+text, Overrides{Baseline: "new.json"})
		if want := filepath.Join(here, "new.json"); p.Baseline == nil || p.Baseline.File.Name != want || p.Baseline.IfMissing != ifMissing {
			t.Errorf("%q: %+v, want %s, %s", text, p.Baseline, want, ifMissing)
		}
		if p.Fingerprint != plain.Fingerprint {
			t.Errorf("%q: what a plan is compared with changes its meaning", text)
		}
	}
	if p := mustParse(t, rest, Overrides{}); p.Baseline != nil {
		t.Errorf("without one: %+v", p.Baseline)
	}
}

// TestBaselineRead: only what the schema of results takes is read.
func TestBaselineRead(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"{}": "missing properties", "nonsense": "read result", "": "read result",
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
