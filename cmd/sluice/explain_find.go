package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/schema"
)

// answerFor is what explain prints for a name, whatever way it is asked for: as we call it, as a list of all of a kind, as another
// tool calls it, by the end of a key's path, or with the place of a metric before it. "": nothing is known of it.
func answerFor(name string) string {
	for _, words := range [...]string{"exit code ", "exit "} {
		if code, ok := strings.CutPrefix(strings.ToLower(name), words); ok && code != "" && strings.Trim(code, "0123456789") == "" {
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
	return bySuffix(name)
}

// joinTexts puts a blank line between two texts.
func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// listOf is the list of everything of one kind: metrics, exit codes, backends.
func listOf(name string) string {
	switch strings.ToLower(name) {
	case "metrics", "metric":
		var b strings.Builder
		b.WriteString("metrics: `sluice explain NAME` says more of each\n")
		for _, r := range metrics() {
			if !r.OfErrors() || strings.Count(r.Name, ".") == 1 {
				facts(&b, "", r.Name+" ("+r.Dim.String()+"): "+r.Help)
			}
		}
		return b.String()
	case "keys", "plan keys":
		var b strings.Builder
		b.WriteString("plan keys: `sluice explain KEY` says more of each\n")
		keyGroups(&b)
		return b.String()
	}
	for _, g := range groups() {
		title := strings.ToLower(g.title)
		if strings.EqualFold(name, title) && title != "errors" || strings.EqualFold(name, strings.TrimSuffix(title, "s")) && strings.Contains(title, " ") {
			return topicList(g)
		}
		if strings.EqualFold(name, "error classes") && title == "errors" {
			return topicList(g)
		}
	}
	return ""
}

// topicList is each topic of a group with its first fact.
func topicList(g group) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: `sluice explain %s` says more of one\n", strings.ToLower(g.title), g.example)
	if g.title == "Exit codes" {
		return b.String() + exitCodeList()
	}
	for _, t := range g.topics {
		first, _, _ := strings.Cut(t.facts[1], ". ")
		facts(&b, "", t.name+": "+first)
	}
	return b.String()
}

// metricsBelow lists the metrics of a group: those of errors, of requests.
func metricsBelow(name string) string {
	var b strings.Builder
	for _, r := range metrics() {
		rest, ok := strings.CutPrefix(r.Name, strings.ToLower(name)+".")
		if !ok || strings.Contains(rest, ".") && r.OfErrors() {
			continue
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "metrics of %s\n", name)
		}
		facts(&b, "", r.Name+" ("+r.Dim.String()+"): "+r.Help)
	}
	return b.String()
}

// bySuffix finds the keys whose path ends in a dotted name: until.stable, search.precision.
func bySuffix(name string) string {
	var found []string
	for _, key := range schema.Keys() {
		if strings.HasSuffix(key, "."+name) {
			found = append(found, key)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int {
		return cmp.Or(strings.Count(a, ".")-strings.Count(b, "."), ofStage(b)-ofStage(a))
	})
	if len(found) == 0 {
		return ""
	}
	text := explainName(found[0])
	var b strings.Builder
	candidates(&b, found[1:])
	return text + b.String()
}

// candidates lists other keys of the same name, each with what it is.
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

// cutPlace cuts the place from a metric: baseline.latency.p95, stage("s").latency.
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

// synonym is our word for one of another tool or of daily speech, and how to say so.
func synonym(name string) (ours, why string) {
	word := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", " ")
	for _, s := range synonyms() {
		for theirs := range strings.SplitSeq(s[0], ",") {
			if strings.TrimSpace(theirs) == word {
				return s[1], s[2]
			}
		}
	}
	if _, why, ok := metric.ParseStat(word); ok || why != "" {
		return metric.Latency, "a statistic of a distribution, such as latency.p99; p999 of other tools is p99.9"
	}
	if key, line := schema.Foreign(strings.ReplaceAll(word, " ", "_")); key != "" {
		return key, "called `" + key + "` here: " + line
	}
	return "", ""
}

// synonyms are words that people ask for, separated by commas, what they are called here, and a line about it.
func synonyms() [][3]string {
	return [][3]string{
		{"exit code, exit codes, exit status, return code, return codes, status code", "exit codes", "the verdict as a number"},
		{"validity, valid, invalid measurement, client bottleneck, noisy", "invalid", "a measurement that this client has disturbed is called invalid"},
		{"junit.xml, junit xml", "junit", "a file of the results folder, written with `output: {formats: [junit]}`"},
		{"summary.md, github summary, step summary", "markdown", "a file of the results folder, written with `output: {formats: [markdown]}`"},
		{"result.json, results, result, json schema", "json", "the results folder always has result.json; `sluice schema result` prints its schema"},
		{"stages.csv", "csv", "a file of the results folder, one row for each node"},
		{"samples.csv, samples.jsonl, raw data, per request", "samples", "a file with every request, written with `output: {samples: csv}`"},
		{"secrets, password, token, tokens, credentials, api key, masking", "vars.NAME.secret", "a variable with `secret: true` is masked everywhere"},
		{"environment, environment variable, environment variables, env var", "vars.NAME.env", "a variable takes its value from the environment"},
		{"staging, production, environments", "profiles", "one plan has several environments as profiles"},
		{"error rate, error_rate, failure rate, success rate, availability", metric.ErrorsRatio, "the share of requests that failed"},
		{"failed requests, failures", metric.ErrorsCount, "the number of requests that failed"},
		{"response time, rtt, duration of a request, http_req_duration", metric.Latency, "the time from when a request was due to its last byte"},
		{"percentile, percentiles of latency, quantile, median, average, mean, stddev", metric.Latency, "a statistic of a distribution, such as latency.p99 or latency.mean"},
		{"goodput, slo attainment", metric.GoodputRatio, "the share of requests that meet the stage's `goodput`"},
		{"soak, endurance", "for", "a stage that lasts long: for: 4h"},
		{"spike, stress, step load", "ramp", "a load that goes from step to step"},
		{"sweep, ladder, concurrency sweep", "levels", "several levels of a load, each a node"},
		{"capacity, max throughput, breaking point, binary search", "search", "the largest load for which conditions hold"},
		{"scheduled, coordinated omission, omission", "open loop", "an open loop counts latency from when a request was due"},
		{"streaming, sse, server sent events, decoupled model", "streaming", "requests with several responses"},
		{"tls, ssl, https, certificate, certificates, mtls", "target.tls", "how secure connections are made"},
		{"header, authorization, bearer, auth", "target.headers", "sent with every request"},
		{"timeouts", "timeout", "the longest time of one request"},
		{"preflight, readiness, health check, hidden request, cold start", "target.probe", "one request goes to each model before the clock starts"},
		{"dataset, data file, input data, prompts", "data", "where inputs come from"},
		{"sequence, stateful, correlation id", "sequences", "requests that belong together"},
		{"cpu, memory, gpu, power", "metrics", "metrics of the client and of the server's devices"},
		{"queue time, server queue, server time, statistics", "target.statistics", "the server's own numbers are metrics named server.NAME"},
		{"regression, compare, comparison", "baseline", "assertions compare with a stored result"},
		{"gate, ci, pipeline, quality gate", "assertion", "an assertion decides the exit code"},
		{"confidence interval, significance, flaky", "slos.NAME.confidence", "an assertion may ask for confidence"},
		{"stop early, abort early, fail fast", "slos.NAME.abort", "an assertion may stop the run"},
		{"parallel, concurrently, at the same time", "group", "stages that start together"},
		{"poisson, distribution, jitter", "arrivals", "how an open loop spreads its requests"},
	}
}
