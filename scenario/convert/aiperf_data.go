package convert

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"strconv"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
)

// lengths takes the lengths of prompts and answers.
func (c *aiperf) lengths() {
	p := &c.prompts
	p.input.mean = 550
	if len(p.inputs) > 0 {
		p.input.mean = p.inputs[0]
	}
	if len(p.outputs) > 0 {
		p.output.mean = p.outputs[0]
	}
	p.prefixTokens = c.prefixLength
	if c.prefixLength == 0 {
		p.prefixes = 0
	}
	if p.batch == 0 {
		p.batch = 1
	}
	c.clash((p.system > 0 || p.context > 0) && p.prefixes > 0, "--shared-system-prompt-length",
		"--num-prefix-prompts", "")
}

var pairOfLengths = regexp.MustCompile(
	`\(?\s*(\d+)(?:\|(\d+(?:\.\d+)?))?\s*,\s*(\d+)(?:\|(\d+(?:\.\d+)?))?\s*\)?\s*:\s*(\d+(?:\.\d+)?)`)

// takePairs takes ISL,OSL:PERCENT;…, with |STDDEV after a length, or in brackets; or JSON.
func (c *aiperf) takePairs(g given) {
	var file struct {
		Pairs []struct {
			ISL   float64 `json:"isl"`
			OSL   float64 `json:"osl"`
			InStd float64 `json:"isl_stddev"`
			OutSt float64 `json:"osl_stddev"`
			Prob  float64 `json:"prob"`
		} `json:"pairs"`
	}
	var all []lengths
	sum := 0.0
	if json.Unmarshal([]byte(g.value), &file) == nil {
		for _, p := range file.Pairs {
			all, sum = append(all, lengths{
				drawn{mean: p.ISL, std: p.InStd},
				drawn{mean: p.OSL, std: p.OutSt},
				p.Prob,
			}), sum+p.Prob
		}
	}
	for _, m := range pairOfLengths.FindAllStringSubmatch(g.value, -1) {
		var v [5]float64
		for i, text := range m[1:] {
			v[i], _ = strconv.ParseFloat(cmp.Or(text, "0"), 64)
		}
		if v[0] < 1 || v[2] < 1 {
			g.wrong("%s: a length must be above 0", g)
			return
		}
		sum += v[4]
		all = append(all, lengths{drawn{mean: v[0], std: v[1]}, drawn{mean: v[2], std: v[3]}, v[4]})
	}
	switch {
	case len(all) == 0:
		g.wrong("%s: %q has no pairs of lengths", g,
			g.value).Help("write INPUT,OUTPUT:PERCENT;INPUT,OUTPUT:PERCENT")
	case math.Abs(sum-100) > 0.01:
		g.wrong("%s: the shares are %s %% in all, not 100 %%", g, plantext.Decimal(sum))
	}
	c.prompts.pairs = all
}

// media checks images and audio.
func (c *aiperf) media() {
	p := &c.prompts
	p.images, p.audios = c.imageBatch, c.audioBatch
	if p.imageFormat == "random" {
		c.remark("--image-format", "all images have one format")
		p.imageFormat = ""
	}
	if p.seconds.mean > 0 && c.audioFormat == "mp3" {
		c.remark("--audio-format", "audio is wav")
	}
	if len(c.rates) > 0 {
		p.sampleRate = int64(math.Round(c.rates[0] * 1000))
	}
	if p.seconds.mean == 0 {
		c.needless("--audio-batch-size", "without a length there is no audio")
	}
}

// source finds where the prompts come from.
func (c *aiperf) source() {
	p := &c.prompts
	c.clash(c.public != "" && c.dataset != "", "--public-dataset", "--custom-dataset-type", "")
	c.needs(c.dataset != "" && c.input == "", "--custom-dataset-type", "--input-file", "")
	if c.input == "" {
		return
	}
	row := firstRow(c.input)
	kind := c.dataset
	if kind == "" {
		switch {
		case row["chat_id"] != nil && row["parent_chat_id"] != nil:
			kind = "bailian_trace"
		case row["input_length"] != nil || row["hash_ids"] != nil:
			kind = "mooncake_trace"
		case row["turns"] != nil:
			kind = "multi_turn"
		default:
			kind = "single_turn"
		}
	}
	switch kind {
	case "mooncake_trace", "bailian_trace":
		p.format, p.once = "mooncake", true
	case "single_turn", "random_pool", "raw_payload":
		p.format = "jsonl"
		p.columns = columnsOf(row)
		if kind == "random_pool" && p.order == "" {
			p.order = "random"
		}
	case "inputs_json":
		p.format = "perf_analyzer"
	case "sharegpt":
		p.format = "sharegpt"
	case "multi_turn":
		c.wrongValue("--input-file", "rows with a list of turns are no data of a plan").
			Help("write each turn as a row: {session_id, text, delay}")
		return
	default:
		c.wrongValue("--custom-dataset-type", "data of kind "+kind+" has no equal in a plan").
			Among("", []string{"single_turn", "random_pool", "mooncake_trace", "bailian_trace", "raw_payload"})
		return
	}
	switch c.cacheBust {
	case "":
	case "none":
		c.needless("--cache-bust", "rows of a file are sent as they are")
	default:
		c.remark("--cache-bust", "rows of a file are sent as they are: levels and repeats that send them again may find them "+
			"in the server's cache, which a finding says")
	}
	c.fileOf("--input-file", c.input)
	timed := p.once && row["timestamp"] != nil
	if timed && !c.noSchedule && len(c.load.concurrency)+len(c.load.rates) == 0 {
		c.load.schedule = true
	}
	if p.format == "jsonl" && p.output.mean > 0 && row["output_length"] == nil {
		c.limit(p.output.mean)
	}
}

// columnsOf returns the fields of rows, where one of them has another name in a plan; else nil.
func columnsOf(row map[string]rawJSON) (columns []pair) {
	if row["output_length"] == nil {
		return nil
	}
	known := map[string]string{
		"text": "prompt", "text_input": "prompt", "prompt": "prompt", "image": "image", "messages": "messages",
		"session_id": "session_id", "delay": "delay", "timestamp": "timestamp", "output_length": "output_tokens",
	}
	for _, name := range sortedKeys(row) {
		if field := known[name]; field != "" {
			columns = append(columns, pair{field, name})
		} else {
			columns = append(columns, pair{"parameters." + name, name})
		}
	}
	return columns
}
