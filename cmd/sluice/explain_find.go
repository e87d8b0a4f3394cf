package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/schema"
)

// answerFor returns the text of explain for a name in any form: a name of this program, a kind with
// all its names, a word of another tool, the end of a key's path, or a metric with its place. It
// returns "" for an unknown name.
func answerFor(name string) string {
	for _, words := range [...]string{"exit code ", "exit "} {
		code, ok := strings.CutPrefix(strings.ToLower(name), words)
		if ok && code != "" && strings.Trim(code, "0123456789") == "" {
			return explainName(code)
		}
	}
	text := explainName(name)
	if place, rest := cutPlace(name); rest != "" && (text == "" || strings.Contains(name, ").")) {
		inner := answerFor(rest)
		if inner == "" {
			return ""
		}
		return joinTexts(explainName(place), inner)
	}
	if list := listOf(name); list != "" {
		return joinTexts(text, list)
	}
	if members := metricsBelow(name); members != "" {
		return joinTexts(text, members)
	}
	if text != "" {
		return text
	}
	if ours, why := synonym(name); ours != "" {
		return fmt.Sprintf("%s: %s\n\n%s", name, why, cmp.Or(listOf(ours), explainName(ours)))
	}
	return ""
}

// joinTexts joins two texts with a blank line.
func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// listOf returns the list of all names of a kind: metrics, exit codes, backends; "" if name is no kind.
func listOf(name string) string {
	switch strings.ToLower(name) {
	case "metrics", "metric":
		return metricList("metrics: `sluice explain NAME` explains one\n", func(r *metric.Row) bool {
			return !r.OfErrors() || strings.Count(r.Name, ".") == 1
		})
	case "keys", "plan keys":
		var b strings.Builder
		b.WriteString("plan keys: `sluice explain KEY` explains one\n")
		keyGroups(&b)
		return b.String()
	}
	for _, g := range groups() {
		title := strings.ToLower(g.title)
		one := strings.TrimSuffix(title, "s")
		if title == "errors" { // a group of metrics
			title, one = "error classes", "error classes"
		}
		if strings.EqualFold(name, title) || strings.EqualFold(name, one) && strings.Contains(title, " ") {
			return topicList(g)
		}
	}
	return ""
}

// topicList returns each topic of a group with its first sentence.
func topicList(g group) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: `sluice explain %s` explains one\n", strings.ToLower(g.title), g.example)
	if g.title == "Exit codes" {
		return b.String() + exitCodeList()
	}
	for _, t := range g.topics {
		first, _, _ := strings.Cut(t.facts[1], ". ")
		facts(&b, "", t.name+": "+first)
	}
	return b.String()
}

// metricsBelow lists the metrics of a group, such as errors or requests.
func metricsBelow(name string) string {
	return metricList("metrics of "+name+"\n", func(r *metric.Row) bool {
		rest, ok := strings.CutPrefix(r.Name, strings.ToLower(name)+".")
		return ok && (!r.OfErrors() || !strings.Contains(rest, "."))
	})
}

// metricList lists some metrics below a heading; "" if there are none.
func metricList(heading string, listed func(*metric.Row) bool) string {
	var b strings.Builder
	for _, r := range metrics() {
		if listed(r) {
			facts(&b, "", r.Name+" ("+r.Dim.String()+"): "+r.Help)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return heading + b.String()
}

// candidates lists other keys of the same name, each with its description.
func candidates(b *strings.Builder, keys []string) {
	const most = 8
	for i, key := range keys {
		if i == most {
			facts(b, "", fmt.Sprintf("also %d more: %s", len(keys)-most, strings.Join(keys[most:], ", ")))
			return
		}
		p, _ := schema.Lookup(key)
		first, _, _ := strings.Cut(p.Description, ". ")
		facts(b, "also "+key, strings.TrimSuffix(first, ".")+".")
	}
}

// cutPlace cuts the place off a metric: baseline.latency.p95, stage("s").latency.
func cutPlace(name string) (place, rest string) {
	for _, word := range [...]string{"baseline", "steady"} {
		if rest, ok := strings.CutPrefix(name, word+"."); ok {
			return word, rest
		}
	}
	if i := strings.Index(name, ")."); i > 0 && strings.Contains(name[:i], "(") {
		place, _, _ = strings.Cut(name, "(")
		return place, name[i+2:]
	}
	return "", ""
}

// synonym returns the name here of a word of another tool or of daily speech, and a line about it.
func synonym(name string) (ours, why string) {
	word := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", " ")
	for _, entry := range entries(synonymText) {
		for theirs := range strings.SplitSeq(entry[0], ",") {
			if strings.TrimSpace(theirs) == word {
				ours, why, _ = strings.Cut(entry[1], ": ")
				return ours, why
			}
		}
	}
	if _, why, ok := metric.ParseStat(word); ok || why != "" {
		return metric.Latency,
			"a statistic of a distribution, such as latency.p99; p999 of other tools is p99.9"
	}
	if key, line := schema.Foreign(strings.ReplaceAll(word, " ", "_")); key != "" {
		return key, "called `" + key + "` here: " + line
	}
	return "", ""
}

// synonymText holds words that people ask for, separated by commas, what each is called here, and a
// line about it.
//
//go:embed synonyms.txt
var synonymText string
