package result

import (
	"encoding/json"
	"os"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// shape is what this test reads of a schema.
type shape struct {
	Description string            `json:"description"`
	Properties  map[string]*shape `json:"properties"`
	Required    []string          `json:"required"`
	Enum        []any             `json:"enum"`
	Closed      bool              `json:"-"` // additionalProperties: false
	Else        *shape            `json:"else"`
}

// UnmarshalJSON reads an object schema, and false as nothing; additionalProperties may be a schema too.
func (s *shape) UnmarshalJSON(text []byte) error {
	type plain shape
	var p struct {
		plain
		Closed json.RawMessage `json:"additionalProperties"`
	}
	if len(text) > 0 && text[0] == '{' {
		if err := json.Unmarshal(text, &p); err != nil {
			return err
		}
	}
	*s = shape(p.plain)
	s.Closed = string(p.Closed) == "false"
	return nil
}

func readSchema(t *testing.T) (top shape, defs map[string]shape) {
	t.Helper()
	text, err := os.ReadFile("../../schema/result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		ID   string           `json:"$id"`
		Defs map[string]shape `json:"$defs"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &top); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(f.ID, "https://") {
		t.Errorf("$id %q is not absolute", f.ID)
	}
	return top, f.Defs
}

// The Go types and the schema say the same: each member has a property, each property a member, and
// what is never left out is required.
func TestSchemaMatchesTypes(t *testing.T) {
	top, defs := readSchema(t)
	types := map[string]any{
		"tool": Tool{}, "origin": Origin{}, "plan": Plan{}, "var": Var{}, "environment": Environment{},
		"client": Client{}, "node": Node{}, "load": Load{}, "ramp_step": RampStep{},
		"periodic": Periodic{},
		"slice":    Slice{}, "window": Window{}, "error": ErrorClass{}, "validity": Validity{},
		"validity_limits": ValidityLimits{},
		"finding":         Finding{}, "assertion": Assertion{},
		"scope": Scope{}, "series": Series{}, "stretch": SeriesWindow{}, "repeat": Repeat{},
		"trial": Trial{}, "attempt": Attempt{}, "model": Model{}, "scrape": Scrape{}, "scraped": Scraped{}, "abort": Abort{},
		"parts": Parts{}, "look": Look{}, "token_counts": TokenCounts{},
		"best": Best{}, "ranked": Ranked{}, "difference": Difference{}, "configuration": Configuration{},
	}
	check(t, "result", top, Result{})
	for name, v := range types {
		check(t, name, defs[name], v)
	}
	for name := range defs {
		if types[name] == nil && name != "metric" && name != "distribution" {
			t.Errorf("schema: nothing in Go is %q", name)
		}
	}
}

func check(t *testing.T, name string, s shape, v any) {
	t.Helper()
	var want, required []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		want = append(want, tag)
		if options == "" {
			required = append(required, tag)
		}
	}
	var got []string
	for key, p := range s.Properties {
		got = append(got, key)
		if p.Description == "" {
			t.Errorf("%s.%s has no description", name, key)
		}
	}
	sort.Strings(want)
	sort.Strings(got)
	if s.Else != nil {
		s.Required = append(s.Required, s.Else.Required...)
	}
	sort.Strings(required)
	sort.Strings(s.Required)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: properties (- Go, + schema)\n%s", name, diff)
	}
	if diff := cmp.Diff(required, s.Required); diff != "" {
		t.Errorf("%s: required (- Go, + schema)\n%s", name, diff)
	}
	if !s.Closed {
		t.Errorf("%s lets unknown members pass", name)
	}
}

// What the marshalers of Metric and Dist write is what the schema names.
func TestSchemaMatchesMarshalers(t *testing.T) {
	_, defs := readSchema(t)
	m := Distribution(row("latency"), dist(1, 2), []float64{50, 99.9})
	for name, v := range map[string]any{"metric": m, "distribution": m.Dist} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		for key := range members {
			if _, isPercentile := percentile(key); defs[name].Properties[key] == nil && !isPercentile {
				t.Errorf("%s writes %q, which the schema does not have", name, key)
			}
		}
		for _, key := range defs[name].Required {
			if _, ok := members[key]; !ok {
				t.Errorf("%s does not write %q, which the schema requires", name, key)
			}
		}
		for key, p := range defs[name].Properties {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", name, key)
			}
		}
	}
}

func TestSchemaEnums(t *testing.T) {
	top, defs := readSchema(t)
	words := func(list ...any) (out []string) {
		for _, w := range list {
			out = append(out, reflect.ValueOf(w).String())
		}
		sort.Strings(out)
		return out
	}
	var units []any
	for d := metric.Duration; d <= metric.Number; d++ {
		units = append(units, d.Unit())
	}
	tests := map[string]struct {
		got  []any
		want []string
	}{
		"verdict of the run": {
			top.Properties["verdict"].Enum,
			words(Pass, Fail, Inconclusive, ErrorVerdict, Skipped, Interrupted),
		},
		"verdict of an assertion": {
			defs["assertion"].Properties["verdict"].Enum,
			words(Pass, Fail, Inconclusive, ErrorVerdict, Skipped, Interrupted),
		},
		"outcome": {
			defs["node"].Properties["outcome"].Enum,
			words(Done, SkippedNode, Unstable, Invalid, InterruptedNode, Failed),
		},
		"verdict of a trial": {
			defs["trial"].Properties["verdict"].Enum,
			words(Pass, Fail, Inconclusive, ErrorVerdict, Skipped, Interrupted),
		},
		"outcome of a trial": {
			defs["trial"].Properties["outcome"].Enum,
			words(Done, SkippedNode, Unstable, Invalid, InterruptedNode, Failed),
		},
		"outcome of a repeat": {
			defs["repeat"].Properties["outcome"].Enum,
			words(Done, SkippedNode, Unstable, Invalid, InterruptedNode, Failed),
		},
		"severity of a finding": {defs["finding"].Properties["severity"].Enum, words(Invalidating, Bounding, Note)},
		"state": {
			top.Properties["state"].Enum,
			words(StateRunning, StatePartial, StateDone),
		},
		"unit": {defs["metric"].Properties["unit"].Enum, words(units...)},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(tt.want, words(tt.got...)); diff != "" {
			t.Errorf("%s (- Go, + schema)\n%s", name, diff)
		}
	}
}
