package convert

import (
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
)

// dataset is one of the plan's sets of data; a sweep over lengths or counts has several.
type dataset struct {
	name          string
	count         int64
	input, output drawn
}

// sets returns the datasets: one, or one for each of several lengths and counts. A file is one.
func (p *prompting) sets() (all []dataset) {
	counts, inputs, outputs := p.counts, p.inputs, p.outputs
	if p.file != "" || len(p.rows) > 0 || max(len(counts), len(inputs), len(outputs)) < 2 {
		return []dataset{{"main", p.count, p.input, p.output}}
	}
	usual := func(values *[]float64, v float64) {
		if len(*values) == 0 {
			*values = []float64{v}
		}
	}
	usual(&counts, float64(p.count))
	usual(&inputs, p.input.mean)
	usual(&outputs, p.output.mean)
	for _, n := range counts {
		for _, in := range inputs {
			for _, out := range outputs {
				s := dataset{count: int64(n), input: p.input, output: p.output}
				s.input.mean, s.output.mean = in, out
				var parts []string
				for _, part := range []struct {
					name   string
					values []float64
					v      float64
				}{{"n", p.counts, n}, {"in", p.inputs, in}, {"out", p.outputs, out}} {
					if len(part.values) > 1 {
						parts = append(parts, part.name+plantext.Decimal(part.v))
					}
				}
				s.name = strings.Join(parts, "-")
				all = append(all, s)
			}
		}
	}
	return all
}

func (d *llmDraft) datasets() {
	p := &d.prompts
	sets := p.sets()
	switch {
	case len(p.rows) > 0:
		d.Add("data:", "")
		d.Add("  rows:", d.given("--input-file")+": queries with their passages")
		for _, row := range p.rows {
			d.Add("    - "+row, "")
		}
		d.idle("each row has its passages", "--batch-size-text")
		d.idle("the data comes from a file", strings.Fields(generatedOptions)...)
	case p.file != "":
		d.dataFile()
	case len(sets) == 1:
		d.Add("data:", "")
		d.prompt("  ", sets[0])
	default:
		d.Add("datasets:", "")
		for _, s := range sets {
			d.Add("  "+s.name+":", "")
			d.prompt("    ", s)
		}
	}
	d.Add("", "")
}

// generatedOptions are those of generated prompts.
const generatedOptions = inputOptions +
	" --num-dataset-entries --prefix-prompt-length --num-prefix-prompts " +
	"--sequence-distribution --shared-system-prompt-length --user-context-prompt-length --session-turns-mean " +
	"--session-turns-stddev --session-turn-delay-mean --session-turn-delay-stddev --session-delay-ratio " +
	imageOptions + " " + audioOptions

const (
	imageOptions = "--image-batch-size --batch-size-image --image-width-mean --image-width-stddev " +
		"--image-height-mean --image-height-stddev --image-format"
	audioOptions = "--audio-batch-size --batch-size-audio --audio-length-mean --audio-length-stddev " +
		"--audio-sample-rates --audio-format --audio-depths --audio-num-channels"
)

func (d *llmDraft) dataFile() {
	p := &d.prompts
	d.Add("data:", "")
	d.Add("  file: "+d.path(p.file), d.given("--input-file --dataset-path"))
	if p.format != "" {
		d.Add("  format: "+p.format, d.given("--custom-dataset-type --dataset-name"))
	}
	if len(p.columns) > 0 {
		members := make([]string, len(p.columns))
		for i, c := range p.columns {
			members[i] = c.name + ": " + plantext.Scalar(c.value)
		}
		d.Add("  columns: "+plantext.Flow(members...), "")
	}
	if p.order != "" {
		d.Add("  order: "+p.order, d.given("--dataset-sampling-strategy --disable-shuffle"))
	}
	if p.timing != "" {
		d.Add("  timing: "+p.timing, d.given("--no-open-loop-replay --open-loop-strict"))
	}
	if p.timing == "strict" { // each row is due at its own time
		d.idle("rows are sent at their recorded times, whatever the gaps",
			"--max-idle-gap-cap-seconds", "--inter-turn-delay-cap-seconds")
	} else if p.idleCap > 0 {
		d.Add("  idle_cap: "+seconds(p.idleCap),
			d.given("--max-idle-gap-cap-seconds --inter-turn-delay-cap-seconds"))
	}
	if p.sample > 0 && p.sample < 1 {
		d.Add("  sample: "+plantext.Decimal(p.sample*100)+"%", d.given("--trace-session-sample-ratio"))
	}
	d.idle("the data comes from a file", strings.Fields(generatedOptions)...)
}

// prompt writes generated prompts.
func (d *llmDraft) prompt(indent string, s dataset) {
	p := &d.prompts
	d.Add(indent+"prompts:", d.given("--dataset-name"))
	indent += "  "
	if s.count > 0 {
		d.Add(indent+"count: "+plantext.Count(s.count),
			d.given("--num-dataset-entries --num-sessions --num-prompts"))
	}
	if len(p.pairs) > 0 {
		d.Add(indent+"lengths:", d.given("--sequence-distribution"))
		for _, pair := range p.pairs {
			d.Add(indent+"  - "+plantext.Flow("input: "+pair.input.write(1, ""), "output: "+pair.output.write(1, ""),
				"weight: "+plantext.Decimal(pair.weight)), "")
		}
	} else {
		d.Add(indent+"input_tokens: "+s.input.write(1, ""), d.given(inputOptions))
		if s.output.mean > 0 || s.output.high > 0 {
			options := outputOptions
			if p.limited {
				options += " --extra-inputs --extra-body"
			}
			d.Add(indent+"output_tokens: "+s.output.write(1, ""), d.given(options))
		}
	}
	if p.exact {
		options := "--output-tokens-mean-deterministic --ignore-eos"
		if p.limited {
			options += " --extra-inputs --extra-body"
		}
		d.Add(indent+"exact_output: true", d.given(options))
	}
	if p.prefixes > 0 {
		d.Add(indent+"prefixes: "+plantext.Flow("count: "+plantext.Count(p.prefixes),
			"tokens: "+plantext.Count(p.prefixTokens)),
			d.given("--num-prefix-prompts --prefix-prompt-length --random-prefix-len --sonnet-prefix-len "+
				"--prefix-repetition-num-prefixes --prefix-repetition-prefix-len"))
	}
	if p.system > 0 {
		d.Add(indent+"system: "+plantext.Count(p.system), d.given("--shared-system-prompt-length"))
	}
	if p.context > 0 {
		d.Add(indent+"context: "+plantext.Count(p.context), d.given("--user-context-prompt-length"))
	}
	if p.corpus != "" {
		d.Add(indent+"corpus: "+d.path(p.corpus), d.given("--dataset-path"))
	}
	d.turns(indent)
	d.media(indent)
}

func (d *llmDraft) turns(indent string) {
	p := &d.prompts
	if p.turns != fixed(1) {
		d.Add(indent+"turns: "+p.turns.write(1, ""), d.given("--session-turns-mean --session-turns-stddev"))
	}
	if p.delay.mean > 0 {
		d.Add(indent+"delay: "+p.delay.write(0, "ms"), d.given(
			"--session-turn-delay-mean --session-turn-delay-stddev --session-delay-ratio"))
	}
}

// media writes the images and the audio of prompts.
func (d *llmDraft) media(indent string) {
	p := &d.prompts
	images, audio := strings.Fields(imageOptions), strings.Fields(audioOptions)
	if p.images > 0 && p.width.mean > 0 && p.height.mean > 0 {
		members := []string{"count: " + plantext.Count(p.images), "width: " + p.width.write(1, ""), "height: " +
			p.height.write(1, "")}
		if p.imageFormat != "" {
			members = append(members, "format: "+p.imageFormat)
		}
		d.Add(indent+"images: "+plantext.Flow(members...), d.because(append(images, "--dataset-name",
			"--random-mm-bucket-config",
			"--random-mm-base-items-per-request")...))
	} else {
		d.idle("without a width and a height there are no images", images...)
	}
	if p.seconds.mean > 0 && p.audios > 0 {
		members := []string{"seconds: " + p.seconds.write(0.1, "")}
		if p.sampleRate > 0 {
			members = append(members, fmt.Sprintf("sample_rate: %d", p.sampleRate))
		}
		d.Add(indent+"audio: "+plantext.Flow(members...), d.because(audio...))
	} else {
		d.idle("without a length there is no audio", audio...)
	}
}
