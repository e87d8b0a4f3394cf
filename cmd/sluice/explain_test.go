package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/schema"
)

// TestExplain: each offered name is explained, and is in the list.
func TestExplain(t *testing.T) {
	list := contents()
	for _, name := range explainable() {
		text := explainName(name)
		if text == "" {
			t.Errorf("%s is offered and not explained", name)
		}
		for line := range strings.Lines(text) {
			heading := strings.HasPrefix(line, "plan key ") // with a name of any length
			if n := len([]rune(line)); n > pageWidth+1 && !heading && !strings.Contains(line, "example: ") {
				t.Errorf("%s: a line has %d columns: %s", name, n, line)
			}
		}
		if word := name[strings.LastIndexByte(name, '.')+1:]; !strings.Contains(list, word) {
			t.Errorf("the list lacks %s", name)
		}
	}
}

// TestExplainEverything: every word of the single sources is answered, by its own source, in one place.
func TestExplainEverything(t *testing.T) {
	seen := map[string]bool{}
	list := contents()
	for _, g := range groups() {
		if len(g.topics) == 0 {
			t.Errorf("group %s is empty", g.title)
		}
		for _, topic := range g.topics {
			if seen[topic.heading] {
				t.Errorf("%s is there twice", topic.heading)
			}
			seen[topic.heading] = true
			text := explainName(topic.name)
			if !strings.Contains(text, topic.heading+"\n  ") || len(topic.facts) < 2 || topic.facts[1] == "" {
				t.Errorf("%s is explained as %s", topic.heading, text)
			}
			if !strings.Contains(list, topic.name) {
				t.Errorf("the list lacks %s", topic.name)
			}
		}
		if text := explainName(strings.Trim(g.example, `"`)); text == "" {
			t.Errorf("the example of %s is not explained: %s", g.title, g.example)
		}
	}
	for _, r := range metrics() {
		for _, name := range append(r.Leaves(), r.Aliases...) {
			text := explainName(name)
			if !strings.Contains(text, "metric "+r.Name+" (") {
				t.Errorf("%s is explained as %q, not as %s", name, text, r.Name)
			}
		}
	}
}

// TestExplainPaths: however a key's path is written, the same key is meant.
func TestExplainPaths(t *testing.T) {
	for name, want := range map[string]string{
		"stages.load.rate.search": "stages.load.rate.search", "stages.steady.for": "stages.for",
		"stages.steady.load.rate":     "stages.load.rate",
		"profiles.ci.stages.soak.for": "stages.for", "profiles.ci.vars": "vars",
		"profiles.ci.target.url": "target.url", "assert.within": "assert.within",
		"stages.assert.within": "stages.assert.within", "targets.a.tls.ca": "targets.NAME.tls.ca",
		"defaults.warmup": "defaults.warmup",
		"slos.fast.that":  "slos.NAME.that", "stages.until.stable.windows": "stages.until.stable.windows",
		"stages.mix.sql.weight": "stages.mix.NAME.weight",
		"datasets.talk.columns": "datasets.NAME.columns", "vars.url.env": "vars.NAME.env",
		"output.formats": "output.formats",
	} {
		if text := explainName(name); !strings.HasPrefix(text, "plan key "+want+" (") {
			t.Errorf("%s is explained as %s", name, text)
		}
	}
}

// TestExplainWords: what people ask for, in the ways in which they write it; and what is near to
// what they meant.
func TestExplainWords(t *testing.T) {
	for name, want := range map[string]string{
		"3": "exit code 3 (verdict inconclusive)", "130": "exit code 130",
		"unknown-key": "diagnostic unknown-key", "client-late": "what to do: Lower the load",
		"client_late": "in older results: client_late", "no_data": "finding no-data (note)",
		"pool-full": "finding pool-full (note)", "inconclusive": "verdict inconclusive",
		"unstable": "outcome unstable", "Open Loop": "word open loop",
		"hold": "word hold", "REQUEST_LATENCY": "metric latency",
		"request_latency": "metric latency", "Inferences/Second": "metric throughput",
		"ms": "1ms is 0.001 s", "GiB": "1GiB is 1073741824 bytes", "/min": "60/min is one a second",
		"%": "1% is 0.01", "stage(": "stage takes the id of one stage",
		`phase("spike")`: "the name of one hold of a ramp", "baseline": "the stored result",
		"scrape": `one series of the server, as a text: scrape("name{label='v'}"), and behind it one of .mean .min`,
		"triton": "endpoints: infer, generate, tensorrtllm, vllm target keys: model, ", "reset": "error class reset",
		"capacity": "metric capacity", "goodput.ratio": "metric goodput.ratio",
	} {
		if text := strings.Join(strings.Fields(explainName(name)), " "); !strings.Contains(text, want) {
			t.Errorf("%s is explained as %s, want %s", name, text, want)
		}
	}
	for name, want := range map[string]string{
		"latncy":     `did you mean "latency"`,
		"clientlate": `did you mean "client-late"`, "inconclusve": `did you mean "inconclusive"`,
		"qqqqqqqqqq": "lists all names",
	} {
		if text := explainName(name); text != "" || !strings.Contains(unknownName(name).Error(), want) {
			t.Errorf("%s: %s%v", name, text, unknownName(name))
		}
	}
}

// TestExplainBareName: the shortest way to say a key leads to one that can be used.
func TestExplainBareName(t *testing.T) {
	for name, want := range map[string]string{
		"rate": "stages.load.rate", "assert": "assert", "target": "target",
		"max_in_flight": "stages.load.max_in_flight",
		"within":        "slos.NAME.within", "stages.load.rate": "stages.load.rate", "targets.a.url": "target.url",
	} {
		text := explainName(name)
		if !strings.HasPrefix(text, "plan key "+want+" ") &&
			!strings.HasPrefix(text, "plan key "+strings.Replace(want, "target.", "targets.NAME.", 1)+" ") {
			t.Errorf("%s is explained as %s", name, text)
		}
	}
}

// TestExplainSchema: whatever a plan can be made of is explained: the path of every key, every word
// that a key takes, every type, every key of a plan in the singular too; and every command.
func TestExplainSchema(t *testing.T) {
	var data map[string]any
	if err := json.Unmarshal(schema.Plan(), &data); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			words, _ := v["enum"].([]any)
			for _, w := range words {
				if word, ok := w.(string); ok {
					asked[word] = true
				}
			}
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(data)
	for _, t := range schema.Types() {
		asked[t.Name] = true
	}
	for _, key := range schema.Keys() {
		asked[key] = true
		if parent, name := cutLast(key); parent == "" {
			asked[strings.TrimSuffix(name, "s")] = true
		}
	}
	for _, verb := range rootCommand(new(app)).Commands() {
		asked[verb.Name()] = true
	}
	for _, word := range []string{
		"profile", "others", "poisson", "stages.matrix.include", "drop",
		"run", "1.3", "slo", "span",
	} {
		if !asked[word] {
			t.Errorf("%s was not found in the schema", word)
		}
	}
	for name := range asked {
		if explainName(name) == "" {
			t.Errorf("%q is not explained", name)
		}
	}
	if len(asked) < 250 {
		t.Errorf("only %d names", len(asked))
	}
}

// TestExplainWhatPeopleType: words of other tools, file names, lists and ends of paths lead to what
// is meant.
func TestExplainWhatPeopleType(t *testing.T) {
	for name, want := range map[string]string{
		"p99": "metric latency (", "p999": "metric latency (", "p50": "metric latency (",
		"percentile": "plan key output.percentiles (",
		"qps":        "plan key stages.load.rate (", "rps": "plan key stages.load.rate (",
		"tps": "plan key stages.load.rate (", "vus": "plan key stages.load.concurrency (",
		"users": "value users of plan key stages.load.of", "clients": "stages.load.concurrency (",
		"threads":   "stages.load.concurrency (",
		"threshold": "plan key assert (", "thresholds": "plan key assert (",
		"checks": "plan key assert (", "iterations": "plan key stages.for (",
		"request-count": "plan key stages.for (", "vars.NAME.secret": "plan key vars.NAME.secret",
		"scenarios":  "plan key stages (",
		"exit codes": "  130  ", "exit code": "  130  ", "Exit Status": "  130  ",
		"validity": "plan key validity", "junit.xml": "value junit of plan key output.formats",
		"result.json": "output.formats", "stages.csv": "output.formats",
		"summary.md":           "value markdown of plan key output.formats",
		"samples.csv":          "plan key output.samples (",
		"baseline.latency.p95": "metric latency (", `stage("s").latency.p99`: "metric latency (",
		`baseline.stage("s").errors.ratio`: "metric errors.ratio (",
		"until.stable":                     "plan key stages.until.stable (",
		"search.precision":                 "also stages.load.rate.search.precision: ",
		"stable.window":                    "plan key stages.until.stable.window (",
		"secrets":                          "plan key vars.NAME.secret (",
		"password":                         "plan key vars.NAME.secret (",
		"environment variable":             "plan key vars.NAME.env (",
		"metrics":                          "throughput (rate): ", "errors": "errors.ratio (ratio): ",
		"requests": "requests.rate (rate): ", "findings": "client-late: ",
		"backends": "triton: ", "diagnostics": "unknown-key: ", "verdicts": "inconclusive: ",
		"error classes": "timeout: ", "exit code 5": "exit code 5 (",
		"error rate": "metric errors.ratio (", "response time": "metric latency (",
		"coordinated omission": "word open loop", "spike": "plan key stages.load.concurrency.ramp (",
		"tls": "plan key target.tls (", "https": "plan key target.tls (",
		"authorization": "plan key target.headers (", "poisson": "value poisson of plan key",
		"timeouts":     "plan key target.timeout (",
		"distribution": "plan key stages.load.arrivals (", "quality gate": "word assertion",
		"fail fast": "plan key slos.NAME.abort (", "plan keys": "stages.load.rate",
	} {
		if text := answerFor(name); !strings.Contains(text, want) {
			t.Errorf("%s is explained as %s, want %s", name, text, want)
		}
	}
	for _, entry := range entries(synonymText) {
		ours, line, _ := strings.Cut(entry[1], ": ")
		for theirs := range strings.SplitSeq(entry[0], ",") {
			if text := answerFor(strings.TrimSpace(theirs)); strings.TrimSpace(strings.TrimPrefix(text,
				theirs+": "+line)) == "" {
				t.Errorf("%s, which means %s, is explained as %q", theirs, ours, text)
			}
		}
	}
	for _, name := range []string{
		"qqqqqqqq", "", "latency.nonsense", "stages.nonsense",
		"baseline.nonsense", "metrics.nonsense",
	} {
		if text := answerFor(name); text != "" {
			t.Errorf("%q is explained as %s", name, text)
		}
	}
}

// TestExplainAmbiguous: a name of several keys lists each with its description.
func TestExplainAmbiguous(t *testing.T) {
	text := answerFor("while")
	for _, want := range []string{
		"plan key stages.load.concurrency.levels.while (",
		"also stages.load.rate.levels.while: ", "also stages.load.rate.search.while: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("while is explained as %s, which lacks %q", text, want)
		}
	}
	if text := answerFor("min"); !strings.Contains(text, "also ") {
		t.Errorf("min is explained as %s", text)
	}
}
