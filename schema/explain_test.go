package schema

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLookup(t *testing.T) {
	for query, path := range map[string]string{
		"stages.load.rate": "stages.load.rate", "load.rate": "", "max_in_flight": "stages.load.max_in_flight",
		"targets.main.url": "targets.NAME.url", "targets.NAME.url": "targets.NAME.url",
		"targets.url": "targets.NAME.url",
		"url":         "target.url", "version": "version", "load": "stages.load",
		"stages.assert.severity": "stages.assert.severity",
		"defaults.load.rate":     "defaults.load.rate", "vars.limit.default": "vars.NAME.default",
		"ramp":                         "stages.load.concurrency.ramp",
		"data.generate.ids.length.min": "data.generate.NAME.length.min", "stages.parallel.id": "stages.parallel.id",
		"": "", "nonsense": "", "stages.nonsense": "", "stages.load.rate.nonsense": "",
	} {
		p, ok := Lookup(query)
		if ok != (path != "") || p.Path != path {
			t.Errorf("Lookup(%q) is %q, %v, want %q", query, p.Path, ok, path)
		}
	}
}

func TestProperty(t *testing.T) {
	got, _ := Lookup("target.backend")
	want := Property{
		Path: "target.backend", Description: "The kind of server.", Type: "word", Examples: []string{"triton"},
		Allowed: []string{"kserve", "triton", "triton_inprocess", "tfserving", "torchserve", "openai", "grpc", "http"}, Required: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	formats, _ := Lookup("output.formats")
	if formats.Type != "list of word" || formats.Default != `["json","csv"]` {
		t.Errorf("%+v", formats)
	}
	rate, _ := Lookup("stages.load.rate")
	if diff := cmp.Diff([]string{"levels", "ramp", "search"}, rate.Keys); diff != "" || rate.Required {
		t.Errorf("%+v\n%s", rate, diff)
	}
	if timeout, _ := Lookup("timeout"); timeout.Default != "30s" || timeout.Type != "duration" {
		t.Errorf("%+v", timeout)
	}
	until, _ := Lookup("until")
	if diff := cmp.Diff([]string{"stable", "others"}, until.Allowed); diff != "" {
		t.Error(diff)
	}
}

func TestKeys(t *testing.T) {
	keys := Keys()
	for _, k := range keys {
		p, ok := Lookup(k)
		if !ok || p.Path != k || p.Description == "" || p.Type == "" || len(p.Examples) == 0 {
			t.Errorf("%s: %+v", k, p)
		}
	}
	for _, k := range []string{
		"version", "target.tls.verify", "stages.load.concurrency.levels.while", "stages.mix.NAME.weight",
		"output.samples",
	} {
		if !slices.Contains(keys, k) {
			t.Errorf("%s is missing", k)
		}
	}
	seen := map[string]bool{}
	for _, k := range keys {
		if seen[k] {
			t.Errorf("%s stands twice", k)
		}
		seen[k] = true
	}
}
