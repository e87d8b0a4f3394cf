package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

// topic is a name that explain knows besides keys and metrics: its heading, and lines as pairs of
// a label and a text.
type topic struct {
	name, heading string
	facts         []string
}

func newTopic(kind, name string, facts ...string) topic { return topic{name, kind + " " + name, facts} }

// group holds topics of one kind, with a title and an example of a name.
type group struct {
	title, example string
	topics         []topic
}

// groups returns the topics of all packages.
func groups() []group {
	return []group{
		{"Backends", "triton", backendTopics()},
		{"Diagnostics", "unknown-key", codeTopics()},
		{"Findings", "client-late", findingTopics()},
		{"Verdicts", "inconclusive", verdictTopics()},
		{"Errors", "timeout", classTopics()},
		{"Expressions", "phase", expressionTopics()},
		{"Types", "span", typeTopics()},
		{"Words", "open loop", wordTopics()},
		{"Commands", "run", verbTopics()},
		{"Exit codes", "5", exitTopics()},
	}
}

func exitTopics() (list []topic) {
	for _, c := range verdict.Codes() {
		heading := fmt.Sprintf("exit code %d (verdict %s)", c.Code, c.Verdict)
		list = append(list, topic{strconv.Itoa(c.Code), heading, []string{"", c.Meaning}})
	}
	return list
}

func codeTopics() (list []topic) {
	for _, c := range source.Codes() {
		list = append(list, newTopic("diagnostic", c.Name, "", c.Help))
	}
	return list
}

func findingTopics() (list []topic) {
	for _, c := range result.FindingCodes() {
		facts := []string{"", c.Meaning, "what to do", c.Do}
		if older := result.OlderCode(c.Code); older != c.Code {
			facts = append(facts, "in older results", older)
		}
		list = append(list, topic{c.Code, fmt.Sprintf("finding %s (%s)", c.Code, c.Severity), facts})
	}
	return list
}

func backendTopics() (list []topic) {
	for _, k := range all.Kinds() {
		if k.Open == nil && k.Missing == "" {
			continue // not built yet
		}
		list = append(list, newTopic("backend", k.Name, "", k.Help,
			"URL schemes", strings.Join(k.Schemes, ", "),
			"endpoints", strings.Join(scenario.Built("target.endpoint", k.Endpoints), ", "),
			"target keys", strings.Join(scenario.Built("target", k.Keys), ", ")))
	}
	return list
}

func verdictTopics() (list []topic) {
	for i, words := range [][]result.Meaning{result.Verdicts(), result.Outcomes(), result.Severities()} {
		for _, m := range words {
			list = append(list, newTopic([]string{"verdict", "outcome", "severity"}[i], m.Word, "", m.Text))
		}
	}
	return list
}

// classTopics returns the error classes, with the catalogue's description of their counts.
func classTopics() (list []topic) {
	c, err := metric.New()
	if err != nil {
		return nil // a test compiles the catalogue
	}
	for _, class := range metric.ErrorClasses() {
		if row, ok := c.Row(metric.ErrorsOf(class)); ok {
			list = append(list, newTopic("error class", class, "", row.Help, "counted in", row.Name))
		}
	}
	return list
}

func expressionTopics() (list []topic) {
	for _, w := range expression.Words() {
		list = append(list, newTopic("expression", w.Name, "", w.Help))
	}
	return list
}

func typeTopics() (list []topic) {
	for _, t := range schema.Types() {
		list = append(list, newTopic("type", t.Name, "", t.Help, "such as", strings.Join(t.Examples, ", ")))
	}
	return list
}

func verbTopics() (list []topic) {
	root := rootCommand(new(app))
	root.InitDefaultHelpCmd()
	for _, verb := range root.Commands() {
		list = append(list, topic{verb.Name(), "command " + verb.UseLine(), []string{
			"", verb.Short, "", "more: sluice " + verb.Name() + " --help",
		}})
	}
	return list
}

func wordTopics() (list []topic) {
	for _, w := range vocabulary() {
		list = append(list, newTopic("word", w[0], "", w[1]))
	}
	return list
}
