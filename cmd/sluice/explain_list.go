package main

import (
	"cmp"
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
	const hard = "\x00" // no space to break at
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
	return strings.ReplaceAll(wrapText(strings.Join(names, comma), 2), hard, " ")
}

// label is a line of a group: its name, and what is in it broken to the right of the name.
func label(b *strings.Builder, name string, items []string) {
	const column = 30
	text := wrapText(strings.Join(items, " "), column)
	if len(name) > column-4 { // too long for its column
		fmt.Fprintf(b, "  %s\n%s", name, text)
		return
	}
	fmt.Fprintf(b, "  %-*s%s", column-2, name, strings.TrimLeft(text, " "))
}

// keyGroups lists the keys of each map of the plan.
func keyGroups(b *strings.Builder) {
	var groups grouped
	for _, key := range schema.Keys() {
		parent, name := cutLast(key)
		groups.add(cmp.Or(parent, "(the plan)"), name)
	}
	for _, parent := range groups.order {
		label(b, parent, groups.members[parent])
	}
}

// grouped holds the members of groups, and the groups in the order of their first members.
type grouped struct {
	order   []string
	members map[string][]string
}

func (g *grouped) add(group, member string) {
	if g.members == nil {
		g.members = make(map[string][]string)
	}
	if g.members[group] == nil {
		g.order = append(g.order, group)
	}
	g.members[group] = append(g.members[group], member)
}

// metricGroups lists the metrics by their first word; those of one word first.
func metricGroups(b *strings.Builder) {
	var groups grouped
	for _, r := range metrics() {
		first, _, _ := strings.Cut(r.Name, ".")
		groups.add(first, strings.TrimPrefix(r.Name, first))
	}
	var single, several []string
	for _, first := range groups.order {
		if strings.Join(groups.members[first], "") == "" {
			single = append(single, first)
		} else {
			several = append(several, first)
		}
	}
	b.WriteString(wrapText(strings.Join(single, " "), 2))
	for _, first := range several {
		label(b, first, groups.members[first])
	}
}
