package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/schema"
)

// contents lists what can be explained, by kind.
func contents() string {
	var b strings.Builder
	b.WriteString("Plan keys     sluice explain stages.load.rate, or only max_in_flight\n\n")
	keyGroups(&b)
	b.WriteString("\nMetrics       sluice explain latency, or latency.p99\n\n")
	metricGroups(&b)
	for _, g := range groups() {
		fmt.Fprintf(&b, "\n%-13s sluice explain %s\n\n", g.title, g.example)
		if g.title == "Exit codes" { // numbers need their meaning
			b.WriteString(exitCodeList())
			continue
		}
		b.WriteString(named(g.topics))
	}
	return b.String()
}

// named lists topics, each name once. A name of several words is not broken, and set off by commas.
func named(topics []topic) string {
	const hard = "\x00" // no space for strings.Fields
	var names []string
	comma := " "
	for _, t := range topics {
		if name := strings.ReplaceAll(t.name, " ", hard); !slices.Contains(names, name) {
			names = append(names, name)
			if name != t.name {
				comma = ", "
			}
		}
	}
	return strings.ReplaceAll(wrapText(strings.Join(names, comma), "  ", 0), hard, " ")
}

// label is a line of a group: its name, and what is in it broken to the right of the name.
func label(b *strings.Builder, name string, items []string) {
	const column = 30
	text := wrapText(strings.Join(items, " "), strings.Repeat(" ", column), 0)
	if len(name) > column-4 { // too long for its column
		fmt.Fprintf(b, "  %s\n%s", name, text)
		return
	}
	fmt.Fprintf(b, "  %-*s%s", column-2, name, strings.TrimLeft(text, " "))
}

// keyGroups lists the keys of each map of the plan.
func keyGroups(b *strings.Builder) {
	var order []string
	groups := map[string][]string{}
	for _, key := range schema.Keys() {
		parent, name := cutLast(key)
		if parent == "" {
			parent = "(the plan)"
		}
		if groups[parent] == nil {
			order = append(order, parent)
		}
		groups[parent] = append(groups[parent], name)
	}
	for _, parent := range order {
		label(b, parent, groups[parent])
	}
}

// metricGroups lists the metrics by their first word; those of one word first.
func metricGroups(b *strings.Builder) {
	var order []string
	groups := map[string][]string{}
	for _, r := range metrics() {
		first, rest, dotted := strings.Cut(r.Name, ".")
		if !dotted {
			rest = ""
		}
		if _, ok := groups[first]; !ok {
			order, groups[first] = append(order, first), nil
		}
		if rest != "" {
			groups[first] = append(groups[first], "."+rest)
		}
	}
	var single []string
	for _, first := range order {
		if groups[first] == nil {
			single = append(single, first)
		}
	}
	b.WriteString(wrapText(strings.Join(single, " "), "  ", 0))
	for _, first := range order {
		if groups[first] != nil {
			label(b, first, groups[first])
		}
	}
}
