package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// planValue is a value of a plan and its origin.
type planValue struct {
	Plan     string `json:"plan"`     // the file
	Path     string `json:"path"`     // as --set takes it
	Pointer  string `json:"pointer"`  // into the resolved plan
	Value    any    `json:"value"`    // *** for a secret
	From     string `json:"from"`     // plan, default, profile NAME …
	Variable string `json:"variable"` // the variables in it
	At       string `json:"at"`       // file:line:column
	LeftOut  bool   `json:"left_out"` // a header that is not sent: its secret is empty
}

// valuesOf lists the values at and below a path, or all for everyKey.
func valuesOf(p *scenario.Plan, path string) []planValue {
	var values []planValue
	for _, o := range p.Origins() {
		if path != everyKey && o.Key != path && !strings.HasPrefix(o.Key, path+".") {
			continue
		}
		v := planValue{
			Plan: p.File, Path: o.Key, Pointer: o.Path, Value: lookupPointer(p.Resolved(), o.Path),
			From: o.From, Variable: o.Variable,
		}
		if o.LeftOut {
			v.Value, v.LeftOut = "", true
		}
		if o.Pos != (source.Pos{}) {
			v.At = o.Pos.String()
		}
		values = append(values, v)
	}
	return values
}

// lookupPointer returns the value at a JSON pointer, or nil.
func lookupPointer(v any, pointer string) any {
	for _, token := range source.SplitPointer(pointer) {
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

var spacesAtEnd = regexp.MustCompile(`(?m) +$`)

// valueTable returns the values as a table.
func valueTable(values []planValue) string {
	if len(values) == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PATH\tVALUE\tFROM\tAT")
	for _, v := range values {
		from := v.From
		if v.Variable != "" {
			from += " (variable " + v.Variable + ")"
		}
		value := shortValue(v.Value)
		if v.LeftOut {
			value = "empty: left out"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Path, value, from, v.At)
	}
	_ = w.Flush() // into memory
	return spacesAtEnd.ReplaceAllString(b.String(), "")
}

// shortValue returns a value on one line, cut to 48 characters.
func shortValue(v any) string {
	const most = 48
	text, ok := v.(string)
	if !ok {
		data, err := json.Marshal(v)
		if err != nil {
			data = []byte(fmt.Sprint(v))
		}
		text = string(data)
	}
	unprintable := func(r rune) bool { return !strconv.IsPrint(r) }
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` && strings.ContainsFunc(text, unprintable) {
		text = quoted[1 : len(quoted)-1]
	}
	if text == "" {
		return `""`
	}
	return short(text, most)
}
