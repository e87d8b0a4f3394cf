package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/schema"
)

// TestExplain: whatever is offered is explained, and stands in the list.
func TestExplain(t *testing.T) {
	list := contents()
	for _, name := range explainable() {
		text := explanation(name)
		if text == "" {
			t.Errorf("%s is offered and not explained", name)
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(line)); n > pageWidth+1 && !strings.Contains(line, "example: ") {
				t.Errorf("%s: a line has %d columns: %s", name, n, line)
			}
		}
		if word := name[strings.LastIndexByte(name, '.')+1:]; built(name) && !strings.Contains(list, word) {
			t.Errorf("the list lacks %s", name)
		}
	}
}

// TestExplainBareName: the shortest way to say a key leads to one that can be used.
func TestExplainBareName(t *testing.T) {
	for name, want := range map[string]string{
		"rate": "stages.load.rate", "assert": "assert", "target": "target", "max_in_flight": "stages.load.max_in_flight",
		"within": "slos.NAME.within", "stages.load.rate": "stages.load.rate", "targets.a.url": "target.url",
	} {
		text := explanation(name)
		if !strings.HasPrefix(text, "plan key "+want+" ") && !strings.HasPrefix(text, "plan key "+strings.Replace(want, "target.", "targets.NAME.", 1)+" ") {
			t.Errorf("%s is explained as %s", name, text)
		}
		if strings.Contains(text, "but not built yet") {
			t.Errorf("%s is explained as something that cannot be used: %s", name, text)
		}
	}
	for _, name := range []string{"target.protos", "target.protos.files", "data.prompts", "data.prompts.turns"} {
		if !slices.Contains(schema.Keys(), name) {
			t.Fatalf("there is no %s", name)
		}
		if text := explanation(name); !strings.Contains(text, "not built yet") {
			t.Errorf("%s is explained as if it could be used: %s", name, text)
		}
	}
}
