package feed

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/executor/feed/prompt"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxCorpus bounds the size of a corpus, bytes.
const maxCorpus = 16 << 20

// newMaker returns the maker of a dataset's prompts. count counts the tokens of a text; nil: its words.
func newMaker(p *scenario.Prompts, count func(string) int) (*prompt.Maker, error) {
	corpus := prompt.Corpus
	if p.Corpus != nil {
		data, err := regular.Read(p.Corpus.Name, maxCorpus)
		if err != nil {
			return nil, err
		}
		corpus = string(data)
	}
	return prompt.NewMaker(count, corpus)
}

// checkPrompts reads the corpus of prompts and checks the size of their images and audio, for validate.
func checkPrompts(d *scenario.Dataset) source.Diagnostics {
	diags := checkMedia(d.Prompts)
	if d.Prompts.Corpus == nil {
		return diags
	}
	if _, err := newMaker(d.Prompts, nil); err != nil {
		diags = append(diags, source.Errorf("corpus", "the corpus cannot be used: %s", err).
			At("", d.Prompts.Corpus.Pos, 0))
	}
	return diags
}

// promptRows writes the prompts of a dataset. A prompt is
//
//	prefix   one of several that prompts share
//	opening  words that no other request has, unless prompts are to be reused
//	context  words of its user's
//	text     words of the corpus
//
// after a system prompt that all have. The turns of a session that follow are text alone. Its length, without
// prefix and context, is drawn; all but the openings depends on the seed, the dataset's name and the number
// of the prompt or session alone.
func promptRows(b *build) []row {
	p := b.dataset.Prompts
	m, err := newMaker(p, b.sig.Count)
	if err != nil {
		b.fail(b.dataset.Pos, "corpus", "prompts cannot be written: %s", err)
		return nil
	}
	w := &promptWriter{
		build: b, plan: p, maker: m, seed: mix(b.seed ^ Hash(b.dataset.Name)), openings: m.Openings(),
		at: b.sig.Endpoint,
	}
	w.alone = turnsOf(b.dataset) == nil || b.dataset.History == format.Verbatim
	if p.System > 0 {
		w.system = w.shared(p.System, "system")
	}
	if p.Prefixes != nil {
		for i := range p.Prefixes.Count {
			w.prefixes = append(w.prefixes, w.shared(p.Prefixes.Tokens, fmt.Sprint("prefix ", i)))
		}
	}
	rows := make([]row, 0, p.Count)
	turns := turnsOf(b.dataset)
	for i := range p.Count {
		list := w.session(i, turns)
		if b.bytes += held(list); b.bytes > maxData {
			b.fail(b.dataset.Pos, "data-size", "prompts: %s", errTooMuch)
			return nil
		}
		rows = append(rows, list...)
	}
	if w.inexact > 0 {
		b.warn(p.Pos, "prompt-lengths", "%d of %d prompts do not have exactly the tokens that were drawn: the "+
			"tokenizer makes no such texts of this corpus", w.inexact, len(rows))
	}
	return rows
}

// promptWriter writes the rows of a dataset.
type promptWriter struct {
	*build
	plan     *scenario.Prompts
	maker    *prompt.Maker
	seed     uint64
	openings *prompt.Openings
	at       string // endpoint
	alone    bool   // a request has no turns of a session before it
	system   piece
	prefixes []piece
	inexact  int
}

// piece is a part of a prompt: as it is written, with marks in the place of words that vary, and with some of
// these words, to count its tokens.
type piece struct{ marked, plain string }

// fresh reports whether each request has an opening of its own.
func (w *promptWriter) fresh() bool { return w.plan.Reuse == "none" }

// shared writes a text that prompts share: in each trial another one, unless prompts are to be reused.
func (w *promptWriter) shared(tokens int, name string) piece {
	text, _ := w.write(piece{}, tokens, mix(w.seed^Hash(name)), backends.VaryTrial)
	return text
}

// write writes a text of n tokens behind another one: an opening with marks of a kind, 0: none, and words of
// the corpus.
func (w *promptWriter) write(front piece, n int, seed uint64, kind byte) (text piece, whole bool) {
	opening := ""
	if kind != 0 {
		opening = w.openings.Text(n, seed)
	}
	rest, got := w.maker.After(join(front.plain, opening), w.maker.Count(front.plain)+n, seed)
	text.plain = join(front.plain, join(opening, rest))
	if opening != "" && w.fresh() {
		opening = w.openings.Holes(opening, kind)
	}
	text.marked = join(front.marked, join(opening, rest))
	return text, got
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// row writes the prompt of a number. first: there is none before it in its request.
func (w *promptWriter) row(rng *rand.Rand, number uint64, name string, first bool) row {
	input, output := w.lengths(rng)
	seed := rng.Uint64()
	front, kind := piece{}, byte(0)
	if first {
		front, kind = w.front(rng, seed)
	}
	text, whole := w.write(front, input, seed, kind)
	if !whole {
		w.inexact++
	}
	r := row{rec: &format.Record{From: &format.Origin{Name: name, TimeUnit: 1}, Stream: -1}}
	r.members = w.members(text.marked, first)
	media, err := w.mediaMembers(number)
	if err != nil {
		w.fail(w.plan.Pos, "generate", "%s: %s", name, err)
	}
	r.members = append(r.members, media...)
	if w.sig.Count != nil && len(media) == 0 && (first || w.alone) { // a later turn has those before it
		r.tokens = w.maker.Count(w.head(text, first))
	}
	if output >= 0 {
		r.members = append(r.members, backends.Member{Name: "output_tokens", Value: fmt.Append(nil, max(output, 1))})
		if exact, known := exactOutputs[w.plan.ExactOutput]; known {
			r.members = append(r.members, backends.Member{Name: backends.ExactOutput, Value: []byte(exact)})
		}
	}
	if w.fresh() {
		r.vary = w.openings.Vary(w.seed)
	}
	return r
}

// head returns the text of a row with the system prompt, if the row has it.
func (w *promptWriter) head(text piece, first bool) string {
	if !first && w.at != "messages" {
		return text.plain
	}
	return join(w.system.plain, text.plain)
}

// front draws what is ahead of the text of a first prompt, and the kind of the opening of the text itself.
func (w *promptWriter) front(rng *rand.Rand, seed uint64) (front piece, kind byte) {
	if len(w.prefixes) > 0 {
		front = w.prefixes[rng.IntN(len(w.prefixes))]
	}
	if w.plan.Context == 0 {
		return front, backends.VaryRequest
	}
	front, whole := w.write(front, w.plan.Context, ^seed, backends.VaryRequest)
	if !whole {
		w.inexact++
	}
	return front, 0
}

// exactOutputs are the members of rows that ask for exact lengths, by the plan's word.
var exactOutputs = map[scenario.ExactOutput]string{"true": "true", "auto": `"auto"`}

// lengths draws the length of a prompt, and of its answer; -1: the server decides.
func (w *promptWriter) lengths(rng *rand.Rand) (input, output int) {
	in, out := w.plan.InputTokens, w.plan.OutputTokens
	if list := w.plan.Lengths; list != nil {
		weights := make([]float64, len(list))
		for i, l := range list {
			weights[i] = l.Weight
		}
		l := list[weighted(weights, len(list), unit(rng.Uint64()))]
		in, out = l.Input, l.Output
	}
	input, output = int(max(math.Round(drawFrom(in, rng)), 0)), -1
	if out != nil {
		output = int(max(math.Round(drawFrom(*out, rng)), 0))
	}
	return input, output
}

// members returns the members of a row with a text, behind the system prompt in the way of the endpoint, if
// the row is the first of a request.
func (w *promptWriter) members(text string, first bool) []backends.Member {
	member := func(name string, value any) backends.Member {
		encoded, _ := json.Marshal(value) // texts and maps of them: it cannot fail
		return backends.Member{Name: name, Value: encoded}
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	switch {
	case w.system.marked == "" || !first && w.at != "messages":
		return []backends.Member{member("prompt", text)}
	case slices.Contains([]string{"completions", "embeddings", "tensorrtllm", "vllm", "generate"}, w.at):
		return []backends.Member{member("prompt", join(w.system.marked, text))}
	case w.at == "messages":
		return []backends.Member{member("prompt", text), member("system", w.system.marked)}
	}
	return []backends.Member{member("messages", []message{{"system", w.system.marked}, {"user", text}})}
}
