package convert

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"

	"github.com/sluice-bench/sluice/scenario/convert/pyyaml"
	"github.com/sluice-bench/sluice/scenario/source"
)

// setting is one value of a file of settings: the option that it stands for, "" for none.
type setting struct {
	path, option string
	node         *source.Node
}

// settle puts the options of a file of settings before those of the command line, which go before them.
func (l *llm) settle(list []given, settings func(*source.Node) []setting) []given {
	var file given
	set := map[string]bool{}
	for _, g := range list {
		set[g.option.String()] = true
		if g.option.String() == "--file" || g.option.String() == "--config" {
			file = g
		}
	}
	if file.option == nil {
		return list
	}
	data, err := readFile(file.value)
	if err != nil {
		l.fail(file.at, codeFile, "%s: the file %q cannot be read", file, file.value).Help(err.Error())
		return list
	}
	root, diags := pyyaml.Parse(file.value, data)
	if root == nil || diags.HasErrors() {
		pos := source.Pos{File: file.value, Line: 1, Column: 1}
		if len(diags) > 0 {
			pos = diags.Sorted()[0].Pos
		}
		d := source.Errorf(codeFile, "%s: the file cannot be read as YAML", file) // any file may have this name
		l.diags = append(l.diags, d.At("", pos, 0))
		return list
	}
	begin := len(l.args)
	for _, s := range settings(root) {
		l.setting(s)
	}
	var all []given
	for _, g := range l.parse(begin) {
		if !set[g.option.String()] {
			all = append(all, g)
		}
	}
	return append(all, list...)
}

// setting appends the arguments that a setting stands for.
func (l *llm) setting(s setting) {
	if s.option == "" {
		l.notes = append(l.notes, note{
			s.path,
			"this setting of the file has no equal in a plan, or is none of its tool",
		})
		return
	}
	if s.node.Kind == source.Scalar && strings.Contains(s.node.Text, "{{") {
		d := source.Errorf(codeValue, "%s: write the value: expressions in {{ }} are not computed", s.path)
		l.diags = append(l.diags, d.At("", s.node.Pos, 0))
		return
	}
	for _, value := range values(s.node) {
		arg := s.option
		if found := defaultOf.FindStringSubmatch(value); found != nil {
			value = found[1] // of ${NAME:value}
		}
		if d, ok := source.ParseDuration(value); ok && d > 0 && isTime(s.option) {
			value = plantext.Decimal(d.Seconds())
		}
		if value != "true" || !l.isFlag(arg) {
			arg += "=" + value
		}
		if value == "false" && l.isFlag(s.option) {
			continue
		}
		l.args, l.from = append(l.args, arg), append(l.from, s.node.Pos)
	}
}

var defaultOf = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*:(.*)\}$`)

// isTime reports whether an option takes seconds.
func isTime(option string) bool {
	return strings.HasSuffix(option, "-duration") || strings.HasSuffix(option, "-period") ||
		strings.HasSuffix(option, "-seconds")
}

// isFlag reports whether an option takes no value.
func (l *line) isFlag(name string) bool {
	for _, o := range l.options {
		if o.String() == name {
			return o.value == "" || o.maybe
		}
	}
	return false
}

// values returns the values of an option: those of a list, NAME:VALUE of a map, or the text. A list that
// is one value of an option has commas.
func values(n *source.Node) (all []string) {
	switch n.Kind {
	case source.List:
		for _, item := range n.Items {
			all = append(all, values(item)...)
		}
	case source.Map:
		for _, e := range n.Entries {
			if e.Value.Kind == source.Scalar {
				all = append(all, e.Key+":"+e.Value.Text)
				continue
			}
			text, _ := json.Marshal(map[string]any{e.Key: e.Value.JSON()})
			all = append(all, string(text))
		}
	default:
		if n.Tag != "!!null" {
			all = append(all, n.Text)
		}
	}
	return all
}

// pathsOf returns the values of a file by their paths: names with dots between them. An option with * takes
// a whole map; those of - are left out.
func pathsOf(root *source.Node, wanted map[string]string) (all []setting) {
	var walk func(path string, n *source.Node)
	walk = func(path string, n *source.Node) {
		option, whole := strings.CutSuffix(wanted[path], "*")
		switch {
		case option == "-" || n.Kind == source.Scalar && n.Tag == "!!null":
		case whole || n.Kind != source.Map:
			all = append(all, setting{path, option, n})
		default:
			for _, e := range n.Entries {
				walk(strings.TrimPrefix(path+"."+snake(e.Key), "."), e.Value)
			}
		}
	}
	walk("", root)
	return all
}

// snake returns a name with _ in place of capitals: requestRate as request_rate.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// genaiSettings returns the settings of a file of `genai-perf config`.
func genaiSettings(root *source.Node) []setting {
	wanted := map[string]string{
		"model_name": "--model", "model_names": "--model", "analyze": "-",
		"endpoint.model_selection_strategy": "--model-selection-strategy",
		"endpoint.backend":                  "--backend", "endpoint.custom": "--endpoint",
		"endpoint.type":      "--endpoint-type",
		"endpoint.streaming": "--streaming", "endpoint.server_metrics_urls": "--server-metrics-url",
		"endpoint.server_metrics_url": "--server-metrics-url", "endpoint.url": "--url",
		"endpoint.grpc_method": "--grpc-method", "endpoint.service_kind": "--service-kind",
		"perf_analyzer.path": "-", "perf_analyzer.verbose": "--verbose",
		"perf_analyzer.stimulus.concurrency":          "--concurrency",
		"perf_analyzer.stimulus.request_rate":         "--request-rate",
		"perf_analyzer.stimulus.session_concurrency":  "--session-concurrency",
		"perf_analyzer.stimulus.session_request_rate": "--session-request-rate",
		"perf_analyzer.stimulus.fixed_schedule":       "--fixed-schedule",
		"perf_analyzer.stability_percentage":          "--stability-percentage",
		"perf_analyzer.measurement.mode":              "-",
		"perf_analyzer.warmup_request_count":          "--warmup-request-count",
		"input.batch_size":                            "--batch-size-text", "input.extra": "--extra-inputs*",
		"input.goodput": "--goodput*", "input.header": "--header*", "input.file": "--input-file",
		"input.num_dataset_entries": "--num-dataset-entries", "input.random_seed": "--random-seed",
		"input.audio.batch_size": "--batch-size-audio", "input.audio.length.mean": "--audio-length-mean",
		"input.audio.length.stddev": "--audio-length-stddev", "input.audio.format": "--audio-format",
		"input.audio.depths": "--audio-depths", "input.audio.sample_rates": "--audio-sample-rates",
		"input.audio.num_channels": "--audio-num-channels", "input.image.batch_size": "--batch-size-image",
		"input.image.width.mean": "--image-width-mean", "input.image.width.stddev": "--image-width-stddev",
		"input.image.height.mean": "--image-height-mean", "input.image.height.stddev": "--image-height-stddev",
		"input.image.format": "--image-format", "input.output_tokens.mean": "--output-tokens-mean",
		"input.output_tokens.deterministic": "--output-tokens-mean-deterministic",
		"input.output_tokens.stddev":        "--output-tokens-stddev",
		"input.synthetic_tokens.mean":       "--synthetic-input-tokens-mean",
		"input.synthetic_tokens.stddev":     "--synthetic-input-tokens-stddev",
		"input.prefix_prompt.num":           "--num-prefix-prompts",
		"input.prefix_prompt.length":        "--prefix-prompt-length",
		"input.sessions.num":                "--num-sessions", "input.sessions.turns.mean": "--session-turns-mean",
		"input.sessions.turns.stddev":      "--session-turns-stddev",
		"input.sessions.turn_delay.mean":   "--session-turn-delay-mean",
		"input.sessions.turn_delay.ratio":  "--session-delay-ratio",
		"input.sessions.turn_delay.stddev": "--session-turn-delay-stddev",
		"output.artifact_directory":        "--artifact-dir", "output.checkpoint_directory": "--checkpoint-dir",
		"output.profile_export_file": "--profile-export-file", "output.generate_plots": "--generate-plots",
		"output.enable_checkpointing": "--enable-checkpointing", "tokenizer.name": "--tokenizer",
		"tokenizer.revision":          "--tokenizer-revision",
		"tokenizer.trust_remote_code": "--tokenizer-trust-remote-code",
	}
	interval := false
	if mode := root.At("/perf_analyzer/measurement/mode"); mode != nil {
		interval = mode.Text == "interval"
	}
	all := pathsOf(root, wanted)
	var kept []setting
	for _, s := range all {
		switch {
		case s.path == "perf_analyzer.measurement.num" && interval:
			s.option = "--measurement-interval"
		case s.path == "perf_analyzer.measurement.num":
			s.option = "--request-count"
		case s.node.Kind == source.Scalar && s.node.Text == "":
			continue // "": the usual
		}
		kept = append(kept, s)
	}
	if analyze := root.Get("analyze"); analyze != nil {
		kept = append(kept, sweepsOf(analyze)...)
	}
	return kept
}
