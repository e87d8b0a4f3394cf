package convert

import (
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"

	"github.com/sluice-bench/sluice/scenario/source"
)

// lengths checks the lengths of answers.
func (c *genai) lengths() {
	p := &c.prompts
	none := p.output.mean < 0
	c.needs(none && c.has("--output-tokens-stddev"), "--output-tokens-stddev", "--output-tokens-mean", "")
	c.needs(none && p.exact, "--output-tokens-mean-deterministic", "--output-tokens-mean", "")
	p.prefixTokens = c.prefixLength
	if c.prefixLength == 0 {
		p.prefixes = 0
	}
}

// media checks images and audio.
func (l *genai) media() {
	p := &l.prompts
	p.images, p.audios = l.imageBatch, l.audioBatch
	if p.seconds.mean > 0 && l.audioFormat == "mp3" {
		l.remark("--audio-format", "audio is wav")
	}
	if len(l.rates) > 0 {
		p.sampleRate = int64(math.Round(l.rates[0] * 1000))
		if len(l.rates) > 1 {
			l.remark("--audio-sample-rates", "all audio has one rate: the first")
		}
	}
	if p.seconds.mean > 0 && l.audioBatch > 1 {
		l.remark("--batch-size-audio", "a prompt has one audio")
	}
	if p.seconds.mean == 0 {
		l.needless("--batch-size-audio", "without a length there is no audio")
	}
	if p.width.mean == 0 || p.height.mean == 0 {
		l.needless("--batch-size-image", "without a width and a height there are no images")
	}
}

// source finds where the prompts come from.
func (c *genai) source() {
	p := &c.prompts
	kind, rest, found := strings.Cut(c.input, ":")
	switch {
	case c.input == "":
	case found && kind == "synthetic":
		c.remark("--input-file", "prompts are generated; `queries` and `passages` of rankings come from a file: "+
			"rows of {query, passages}")
	case found && kind == "payload" && rest == "":
		c.wrongValue("--input-file", "payload: has no file after it")
	case found && kind == "payload":
		c.fileOf("--input-file", rest)
		p.format, p.once = "mooncake", true
		if c.has("--output-tokens-mean") {
			c.needless("--output-tokens-mean", "rows that have an output_length of their own keep it")
		}
	default:
		c.fileOf("--input-file", c.input)
		p.format = "jsonl"
		if info, err := os.Stat(c.input); err == nil && info.IsDir() {
			c.folderOf(c.input)
		}
	}
	if p.file != "" && p.format == "jsonl" && p.output.mean > 0 {
		c.limit(p.output.mean)
		if c.server.endpoint == "tensorrtllm" && p.exact {
			c.server.parameters = append(c.server.parameters, pair{"min_length", plantext.Decimal(p.output.mean)})
		}
		if p.output.std > 0 {
			c.remark("--output-tokens-stddev", "rows of a file have one limit, or their own")
		}
	}
}

// folderOf takes a folder of JSON lines.
func (c *genai) folderOf(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(files) == 1 {
		c.prompts.file = files[0]
		return
	}
	if c.server.endpoint == "rankings" && c.pairUp(dir, c.prompts.batch) {
		return
	}
	c.wrongValue("--input-file", "a folder of several files is no data of a plan").
		Help("put queries and their passages into one file: rows of {query, passages}")
}

// fileOf takes the file of the data, and warns where there is none.
func (l *llm) fileOf(option, file string) {
	l.prompts.file = file
	if _, err := os.Stat(file); err != nil {
		l.warn(l.arg(option), codeFile, "%s: there is no file %q here", l.spoken(option), file).Help(validateWants)
	}
}

// wrongValue reports a mistake in the value of an option.
func (l *llm) wrongValue(option, text string) *source.Diagnostic {
	return l.fail(l.arg(option), codeValue, "%s: %s", l.spoken(option), text)
}
