package http

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// TestCounters: the JSON of a request has its number where the row has a number or a text.
func TestCounters(t *testing.T) {
	const asJSON = "application/json"
	for _, c := range []struct {
		name, body, form string
		counters         []backends.Counter
		want             string // of request 42, or the error
	}{
		{"number", `{"id": 7, "a": "x"}`, asJSON, []backends.Counter{{Path: "id", From: 1}}, `{"id":                   43, "a": "x"}`},
		{"text", `{"id":"order-","a":1}`, asJSON, []backends.Counter{{Path: "id", To: 99}}, `{"id":"order-42","a":1}`},
		{"null", `{"id":null}`, asJSON, []backends.Counter{{Path: "id", To: 5}}, `{"id":                   0}`},
		{
			"several, in any order", `{"b":{"n":[1,"t"]},"a":""}`, "application/cloudevents+json",
			[]backends.Counter{{Path: "a", From: 10, To: 99}, {Path: "b.n.1", To: 9}, {Path: "b.n.0"}},
			`{"b":{"n":[                  42,"t2"]},"a":"52"}`,
		},
		{"the body itself", `[1]`, asJSON, []backends.Counter{{Path: "0"}}, `[                  42]`},
		{"missing", `{"a":1}`, asJSON, []backends.Counter{{Path: "id"}}, `error: the request has no value at "id" for its counter: write one, such as 0 or a text`},
		{"a map", `{"a":{}}`, asJSON, []backends.Counter{{Path: "a"}}, `error: the counter "a" replaces a number or a text, and the request has a map there`},
		{"twice", `{"a":[1]}`, asJSON, []backends.Counter{{Path: "a.0"}, {Path: "a.00"}}, `error: two counters name the value at "a.00"`},
		{"no JSON", "hello", "text/plain", []backends.Counter{{Path: "a"}}, "error: the request has counters, which only JSON can hold"},
	} {
		f, err := fillIn(&backends.Request{BodyType: c.form, Counters: c.counters}, []byte(c.body))
		got := fmt.Sprintf("error: %v", err)
		if err == nil {
			for _, h := range f.holes {
				f.counters[h.Field-backends.FieldCounter].Put(f.front[h.At:int(h.At)+int(h.Width)], 42)
			}
			got = string(f.front) + string(f.rest)
		}
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	form := &backends.Request{Parts: []backends.Part{{Name: "a"}}, Counters: []backends.Counter{{Path: "a"}}}
	if _, err := fillIn(form, nil); err == nil || !strings.Contains(err.Error(), "only JSON") {
		t.Errorf("a form: %v", err)
	}
}
