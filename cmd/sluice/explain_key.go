package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/schema"
)

// pageWidth is the width of explanations in columns, also in a pipe.
const pageWidth = 100

// facts writes lines below a heading, from pairs of a label and a text. Empty texts are left out;
// an empty label is none.
func facts(b *strings.Builder, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if text := pairs[i+1]; text != "" {
			if pairs[i] != "" {
				text = pairs[i] + ": " + text
			}
			b.WriteString(artifact.Fold("  "+oneLine(text), pageWidth) + "\n")
		}
	}
}

// oneLine returns a text without line breaks, its words with one space between.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// wrapText breaks a text at spaces. All lines begin with indent spaces.
func wrapText(text string, indent int) string {
	blank := strings.Repeat(" ", indent)
	return blank + strings.ReplaceAll(artifact.Fold(text, pageWidth-indent), "\n", "\n"+blank) + "\n"
}

// cutLast cuts the last name off a dotted path.
func cutLast(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// keysEnding lists the keys whose path is or ends in a name, the shallow ones first, and of these the
// keys of stages, the most common ones.
func keysEnding(name string) []string {
	var found []string
	for _, key := range schema.Keys() {
		if key == name || strings.HasSuffix(key, "."+name) {
			found = append(found, key)
		}
	}
	rank := func(key string) int {
		if strings.HasPrefix(key, "stages.") {
			return 2 * strings.Count(key, ".")
		}
		return 2*strings.Count(key, ".") + 1
	}
	slices.SortStableFunc(found, func(a, b string) int { return rank(a) - rank(b) })
	return found
}

// lookupKey finds a key by the ways in which people and messages write its path: as --set does,
// with a stage's id (stages.steady.for), and below a profile (profiles.ci.stages.steady.for), where
// every key of a plan is allowed.
func lookupKey(path string) (schema.Property, bool) {
	if p, ok := schema.Lookup(path); ok {
		return p, true
	}
	if words := strings.SplitN(path, ".", 3); len(words) > 2 && words[0] == "profiles" {
		return lookupKey(words[2])
	}
	return schema.Lookup(withoutStage(path))
}

func explainKey(b *strings.Builder, name string) {
	same := keysEnding(name)
	if len(same) > 0 {
		name, same = same[0], same[1:]
	}
	p, ok := lookupKey(name)
	if !ok {
		return
	}
	fmt.Fprintf(b, "plan key %s (%s)\n", p.Path, p.Type)
	facts(b, "", p.Description)
	if p.Required {
		facts(b, "", "required")
	}
	facts(b, "default", p.Default, "allowed", strings.Join(p.Allowed, ", "), "keys",
		strings.Join(p.Keys, ", "))
	for _, e := range p.Examples {
		facts(b, "example", e)
	}
	candidates(b, same)
}

// explainValue lists the keys that take a word as their value.
func explainValue(b *strings.Builder, name string) {
	takers := schema.Takers(name)
	if len(takers) == 0 {
		return
	}
	var others []string
	for _, p := range takers[1:] {
		others = append(others, p.Path)
	}
	first := takers[0]
	fmt.Fprintf(b, "value %s of plan key %s\n", name, first.Path)
	facts(b, "", first.Description, "allowed", strings.Join(first.Allowed, ", "))
	facts(b, "also of", strings.Join(others, ", "))
}

func explainMetric(b *strings.Builder, name string) {
	for _, r := range metrics() {
		word, below := strings.CutPrefix(name, r.Name+".")
		stat, _, isLeaf := metric.ParseStat(word)
		isLeaf = isLeaf && below && r.IsDistribution()
		same := func(other string) bool { return strings.EqualFold(other, name) }
		if !same(r.Name) && !isLeaf && !r.IsCalled(name) {
			continue
		}
		fmt.Fprintf(b, "metric %s (%s)\n", r.Name, r.Dim)
		facts(b, "", r.Help)
		if r.IsDistribution() {
			facts(b, "statistics", "."+strings.Join(metric.StatNames(), " .")+", or any .p(99.9)")
		}
		if isLeaf && stat.P > 0 {
			facts(b, "", fmt.Sprintf("an assertion on %s needs %d samples", word, stats.MinSamples(stat.P)))
		}
		facts(b, "better", map[metric.Better]string{metric.Lower: "lower", metric.Higher: "higher"}[r.Better])
		switch r.Loads {
		case metric.OpenLoop:
			facts(b, "", "only with an open loop (rate)")
		case metric.DueTimes:
			facts(b, "", "only with an open loop (rate), users or think times")
		case metric.AnyLoad, metric.ClosedLoop:
		}
		facts(b, "needs", r.Needs, "also called", strings.Join(r.Aliases, ", "))
	}
}
