package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
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
		{"Diagnostics", "unknown-key", topicsOf(source.Codes(), func(c source.Code) topic {
			return newTopic("diagnostic", c.Name, "", c.Help)
		})},
		{"Findings", "client-late", topicsOf(result.FindingCodes(), findingTopic)},
		{"Verdicts", "inconclusive", slices.Concat(
			meanings("verdict", result.Verdicts()), meanings("outcome", result.Outcomes()),
			meanings("severity", result.Severities()),
		)},
		{"Errors", "timeout", classTopics()},
		{"Expressions", "phase", topicsOf(expression.Words(), func(w expression.Word) topic {
			return newTopic("expression", w.Name, "", w.Help)
		})},
		{"Types", "span", topicsOf(schema.Types(), func(t schema.Type) topic {
			return newTopic("type", t.Name, "", t.Help, "such as", strings.Join(t.Examples, ", "))
		})},
		{"Words", "open loop", topicsOf(entries(wordText), func(w [2]string) topic {
			return newTopic("word", w[0], "", w[1])
		})},
		{"Commands", "run", verbTopics()},
		{"Exit codes", "5", topicsOf(verdict.Codes(), func(c verdict.Code) topic {
			heading := fmt.Sprintf("exit code %d (verdict %s)", c.Code, c.Verdict)
			return topic{strconv.Itoa(c.Code), heading, []string{"", c.Meaning}}
		})},
	}
}

func topicsOf[T any](list []T, topicOf func(T) topic) []topic {
	topics := make([]topic, len(list))
	for i, item := range list {
		topics[i] = topicOf(item)
	}
	return topics
}

func meanings(kind string, words []result.Meaning) []topic {
	return topicsOf(words, func(m result.Meaning) topic { return newTopic(kind, m.Word, "", m.Text) })
}

func findingTopic(c result.FindingCode) topic {
	facts := []string{"", c.Meaning, "what to do", c.Do}
	if older := result.OlderCode(c.Code); older != c.Code {
		facts = append(facts, "in older results", older)
	}
	return topic{c.Code, fmt.Sprintf("finding %s (%s)", c.Code, c.Severity), facts}
}

func backendTopics() (list []topic) {
	for _, k := range all.Kinds() {
		list = append(list, newTopic("backend", k.Name, "", k.Help,
			"URL schemes", strings.Join(k.Schemes, ", "),
			"endpoints", strings.Join(k.Endpoints, ", "),
			"target keys", strings.Join(k.Keys, ", ")))
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
