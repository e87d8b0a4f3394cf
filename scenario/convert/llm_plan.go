package convert

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
)

// llmDraft is a plan as it grows.
type llmDraft struct {
	*llm
	sheet
}

// Names of options by what they are about; each is in the table of one of the tools, or of several.
const (
	urlOptions         = "--url --base-url --host --port"
	modelOptions       = "--model --served-model-name --lora-modules"
	endpointOptions    = "--endpoint-type --endpoint --service-kind --backend"
	concurrencyOptions = "--concurrency --session-concurrency --max-concurrency"
	rateOptions        = "--request-rate"
	requestsOptions    = "--request-count --num-prompts --num-sessions"
	inputOptions       = "--synthetic-input-tokens-mean --synthetic-input-tokens-stddev --input-len " +
		"--random-input-len --random-range-ratio --sonnet-input-len --prefix-repetition-suffix-len"
	outputOptions = "--output-tokens-mean --output-tokens-stddev --output-len --random-output-len " +
		"--sharegpt-output-len --custom-output-len --sonnet-output-len " +
		"--prefix-repetition-output-len --hf-output-len"
)

// given returns those of the options, which blanks separate, that were given, as a comment.
func (d *llmDraft) given(options string) string { return d.because(strings.Fields(options)...) }

// plan writes the text.
func (l *llm) plan(usual string) string {
	d := &llmDraft{llm: l, sheet: sheet{r: l.reader, reasons: reasons(l.program)}}
	d.noEqual, d.notNeeded = append(d.noEqual, l.notes...), append(d.notNeeded, l.moot...)
	if l.has("--random-seed") || l.has("--seed") {
		d.Add("seed: "+plantext.Count(l.prompts.seed), d.given("--random-seed --seed"))
	}
	if len(l.labels) > 0 {
		members := make([]string, len(l.labels))
		for i, p := range l.labels {
			members[i] = plantext.Scalar(p.name) + ": " + plantext.Scalar(p.value)
		}
		d.Add("labels: "+plantext.Flow(members...), d.given("--metadata"))
	}
	d.Add("", "")
	d.key()
	d.targets()
	d.datasets()
	d.stage()
	d.output()
	d.noteRest()
	return d.text(cmp.Or(l.firstModel(), l.server.method), usual)
}

// keyVariable is the variable of an API key that comes from the environment.
const keyVariable = "api_key"

// key writes the variable of an API key that comes from the environment.
func (d *llmDraft) key() {
	if d.server.keyFrom == "" {
		d.variables()
		return
	}
	d.variables(plantext.Line{
		Text:    "  " + keyVariable + `: {default: "", env: ` + d.server.keyFrom + ", secret: true}",
		Comment: "sent if it is set",
	})
}

// targets writes the target, or one for each of several URLs.
func (d *llmDraft) targets() {
	if len(d.server.urls) == 1 {
		d.Add("target:", "")
		d.target("  ", d.server.urls[0])
	} else {
		d.Add("targets:", "")
		for i, url := range d.server.urls {
			d.Add(fmt.Sprintf("  server%d:", i+1), "")
			d.target("    ", url)
		}
	}
	d.Add("", "")
}

func (d *llmDraft) target(indent, url string) {
	s := &d.server
	kind := "--service-kind --backend"
	if s.backend == "grpc" {
		kind += " --endpoint-type"
		d.idle("the method says what is called", "--model", "--endpoint", "--model-selection-strategy")
	}
	d.Add(indent+"backend: "+s.backend, d.given(kind))
	d.Add(indent+"url: "+plantext.Scalar(url), d.given(urlOptions))
	if len(s.models) == 1 && s.backend != "grpc" {
		d.Add(indent+"model: "+plantext.Scalar(s.models[0]), d.given(modelOptions))
	}
	if s.endpoint != "" {
		d.Add(indent+"endpoint: "+s.endpoint, d.given(endpointOptions))
	}
	if s.path != "" {
		d.Add(indent+"path: "+plantext.Scalar(s.path), d.given("--endpoint --endpoint-type"))
	}
	if s.method != "" {
		d.Add(indent+"method: "+plantext.Scalar(s.method), d.given("--grpc-method"))
	}
	if s.streaming {
		d.Add(indent+"streaming: true", d.given("--streaming"))
	}
	if s.tokenizer != "" {
		d.Add(indent+"tokenizer: "+d.path(s.tokenizer), d.given("--tokenizer"))
	}
	d.wire(indent)
	if len(s.parameters) > 0 {
		options := parameterOptions
		if d.prompts.file != "" {
			options += " " + outputOptions + " --output-tokens-mean-deterministic"
		}
		d.Add(indent+"parameters:", d.given(options))
		for _, p := range s.parameters {
			d.Add(indent+"  "+plantext.Scalar(p.name)+": "+p.value, "")
		}
	}
	if len(s.metrics) > 0 {
		urls := plantext.Scalar(s.metrics[0])
		if len(s.metrics) > 1 {
			all := make([]string, len(s.metrics))
			for i, u := range s.metrics {
				all[i] = plantext.Scalar(u)
			}
			urls = "[" + strings.Join(all, ", ") + "]"
		}
		members := []string{"url: " + urls}
		if s.match != "" {
			members = append(members, fmt.Sprintf("match: [%q]", s.match))
		}
		d.Add(indent+"metrics: "+plantext.Flow(members...),
			d.given("--server-metrics-url --server-metrics --gpu-telemetry"))
	}
}

const parameterOptions = "--extra-inputs --extra-body --temperature --top-p --top-k --min-p " +
	"--frequency-penalty --presence-penalty --repetition-penalty --logprobs --ignore-eos " +
	"--use-legacy-max-tokens " +
	"--best-of --use-beam-search"

// wire writes connections, headers and times of the target.
func (d *llmDraft) wire(indent string) {
	s := &d.server
	if s.timeout > 0 {
		d.Add(indent+"timeout: "+seconds(s.timeout), d.given("--request-timeout-seconds"))
	}
	if s.ready > 0 {
		d.Add(indent+"ready: "+seconds(s.ready), d.given("--wait-for-model-timeout --ready-check-timeout-sec"))
	}
	if s.freshConnections {
		d.Add(indent+"connections: per_request", d.given("--connection-reuse-strategy"))
	}
	if s.insecure {
		d.Add(indent+"tls: {verify: none}", d.given("--insecure"))
	}
	if len(s.headers) == 0 && s.keyFrom == "" {
		return
	}
	d.Add(indent+"headers:", d.given("--header -H --api-key"))
	if s.keyFrom != "" {
		d.Add(indent+`  Authorization: "Bearer ${`+keyVariable+`}"`, "")
	}
	for _, h := range s.headers {
		d.Add(indent+"  "+plantext.Scalar(h.name)+": "+plantext.Scalar(h.value), "")
	}
}

// seconds writes a time as a plan does.
func seconds(s float64) string {
	if s == float64(int64(s)) || s < 0.001 {
		return plantext.Decimal(s) + "s"
	}
	return plantext.Decimal(s*1000) + "ms"
}

// output writes the files.
func (d *llmDraft) output() {
	formats := []string{"json", "csv"}
	comment := ""
	if len(d.out.Files) > 0 {
		formats = append(formats, d.out.Formats...)
		name := d.out.Files[len(d.out.Files)-1].Name
		if ending := filepath.Ext(name); d.out.Dated {
			name = strings.TrimSuffix(name, ending) + "-TIME" + ending
		}
		comment = "convert --run writes " + filepath.Join(d.out.Folder, name)
		if given := d.given("--artifact-dir --profile-export-file --save-result --append-result --result-dir " +
			"--result-filename --metric-percentiles"); given != "" {
			comment = given + ": " + comment
		}
	}
	percentiles := d.extent.percentiles
	if len(percentiles) == 0 {
		percentiles = []float64{1, 5, 10, 25, 50, 75, 90, 95, 99}
	}
	text := make([]string, len(percentiles))
	for i, p := range slices.Sorted(slices.Values(percentiles)) {
		text[i] = plantext.Decimal(p)
	}
	if given := d.given("--metric-percentiles"); given != "" && comment == "" {
		comment = given
	}
	d.Add("", "")
	d.Add("output: "+plantext.Flow("formats: ["+strings.Join(formats, ", ")+"]",
		"percentiles: ["+strings.Join(text, ", ")+"]"), comment)
}
