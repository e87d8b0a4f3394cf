package artifact

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/artifact/clean"
)

// A line of samples.csv or samples.jsonl is one request. Times are relative to the start of the
// run, in the CSV as integer ns, in the JSON in s; a time that did not occur is an empty cell, or
// left out.

// sampleTimes are the times of a sample in their usual order.
var sampleTimes = []struct {
	name string
	of   func(*backends.Sample) int64
}{
	{"due", func(s *backends.Sample) int64 { return s.Due }},
	{"free", func(s *backends.Sample) int64 { return s.Free }},
	{"send_start", func(s *backends.Sample) int64 { return s.SendStart }},
	{"send_end", func(s *backends.Sample) int64 { return s.SendEnd }},
	{"first_byte", func(s *backends.Sample) int64 { return s.FirstByte }},
	{"last_byte", func(s *backends.Sample) int64 { return s.LastByte }},
	{"connect", func(s *backends.Sample) int64 { return s.Connect }},
}

// sampleFlags are the words of flags, in the order of output.
var sampleFlags = []struct {
	flag backends.Flags
	word string
}{
	{backends.Warmup, "warmup"},
	{backends.Reused, "reused"},
	{backends.Redialled, "redialled"},
	{backends.Timeout, "timeout"},
	{backends.Incomplete, "incomplete"},
	{backends.Coalesced, "coalesced"},
	{backends.NoFinal, "no_final"},
	{backends.Closing, "closing"},
	{backends.OtherID, "other_id"},
	{backends.Unnamed, "unnamed"},
	{backends.Resent, "resent"},
	{backends.Ahead, "ahead"},
}

func samplesHeader() []byte {
	names := []string{"node", "trial", "mix", "n", "row", "items", "sequence_id", "class", "status"}
	for _, t := range sampleTimes {
		names = append(names, t.name+"_ns")
	}
	names = append(names, "bytes_sent", "bytes_received", "responses", "response_times_ns", "flags", "note")
	return []byte(strings.Join(names, ",") + "\n")
}

func (k *TrialWriter) mix(s *backends.Sample) string {
	if int(s.Entry) < len(k.trial.Mix) {
		return k.trial.Mix[s.Entry]
	}
	return ""
}

func flagWords(b []byte, f backends.Flags) []byte {
	for _, w := range sampleFlags {
		if f&w.flag == 0 {
			continue
		}
		if len(b) > 0 && b[len(b)-1] != ',' {
			b = append(b, ' ')
		}
		b = append(b, w.word...)
	}
	return b
}

func (k *TrialWriter) csvLine(b []byte, s *backends.Sample) []byte {
	comma := func() { b = append(b, ',') }
	number := func(n int64) { b = strconv.AppendInt(b, n, 10); comma() }
	cell := func(text string) { b = appendCell(b, text); comma() }
	cell(k.of.mask(k.trial.Node))
	number(int64(k.trial.Number))
	cell(k.of.mask(k.mix(s)))
	b = strconv.AppendUint(b, s.N, 10)
	comma()
	number(int64(s.Row))
	number(int64(s.Items))
	if s.Sequence != 0 {
		b = strconv.AppendUint(b, s.Sequence, 10)
	}
	comma()
	cell(s.Class.String())
	number(int64(s.Status))
	for _, t := range sampleTimes {
		if v := t.of(s); v != 0 {
			b = strconv.AppendInt(b, v, 10)
		}
		comma()
	}
	number(s.BytesSent)
	number(s.BytesReceived)
	number(int64(s.Responses))
	for i, e := range s.Events {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, e.At, 10)
	}
	comma()
	b = flagWords(b, s.Flags)
	comma()
	b = appendCell(b, k.of.mask(string(s.Note)))
	return append(b, '\n')
}

// appendCell appends a text as a cell of a CSV, on one line.
func appendCell(b []byte, text string) []byte {
	text = clean.Cell(clean.Line(text))
	if !strings.ContainsAny(text, `,"`) && text == strings.TrimSpace(text) {
		return append(b, text...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

func (k *TrialWriter) jsonLine(b []byte, s *backends.Sample) []byte {
	b = appendText(append(b, `{"node":`...), k.of.mask(k.trial.Node))
	b = strconv.AppendInt(append(b, `,"trial":`...), int64(k.trial.Number), 10)
	if mix := k.of.mask(k.mix(s)); mix != "" {
		b = appendText(append(b, `,"mix":`...), mix)
	}
	b = strconv.AppendUint(append(b, `,"n":`...), s.N, 10)
	b = strconv.AppendUint(append(b, `,"row":`...), uint64(s.Row), 10)
	b = strconv.AppendUint(append(b, `,"items":`...), uint64(s.Items), 10)
	if s.Sequence != 0 {
		b = strconv.AppendUint(append(b, `,"sequence_id":`...), s.Sequence, 10)
	}
	b = appendText(append(b, `,"class":`...), s.Class.String())
	b = strconv.AppendInt(append(b, `,"status":`...), int64(s.Status), 10)
	for _, t := range sampleTimes {
		if v := t.of(s); v != 0 {
			b = appendSeconds(append(append(append(b, `,"`...), t.name...), `":`...), v)
		}
	}
	b = strconv.AppendInt(append(b, `,"bytes_sent":`...), s.BytesSent, 10)
	b = strconv.AppendInt(append(b, `,"bytes_received":`...), s.BytesReceived, 10)
	b = strconv.AppendUint(append(b, `,"responses":`...), uint64(s.Responses), 10)
	for i, e := range s.Events {
		b = append(b, [2]string{`,"response_times":[`, ","}[min(i, 1)]...)
		b = appendSeconds(b, e.At)
	}
	if len(s.Events) > 0 {
		b = append(b, ']')
	}
	if words := strings.Fields(string(flagWords(nil, s.Flags))); len(words) > 0 {
		b = append(append(append(b, `,"flags":["`...), strings.Join(words, `","`)...), `"]`...)
	}
	if len(s.Note) > 0 {
		b = appendText(append(b, `,"note":`...), clean.Line(k.of.mask(string(s.Note))))
	}
	return append(b, "}\n"...)
}

// appendSeconds appends ns as s, with all digits.
func appendSeconds(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	b = strconv.AppendInt(b, ns/1e9, 10)
	if rest := ns % 1e9; rest != 0 {
		digits := strconv.FormatInt(1e9+rest, 10)[1:]
		b = append(append(b, '.'), strings.TrimRight(digits, "0")...)
	}
	return b
}

// appendText appends a text as JSON.
func appendText(b []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return append(b, `""`...) // a text always has a JSON form
	}
	return append(b, quoted...)
}

// Limits of the texts whose masked form is kept for further samples with the same text.
const (
	maxMasked     = 1024 // number of texts
	maxMaskedText = 1024 // bytes of each
)

// mask removes secrets from a text. It runs in the writing goroutine, so that no request waits for
// it.
func (s *Samples) mask(text string) string {
	if s.o.Mask == nil || text == "" {
		return text
	}
	if out, ok := s.masked[text]; ok {
		return out
	}
	out := s.o.Mask(text)
	if s.masked == nil || len(s.masked) >= maxMasked {
		s.masked = make(map[string]string)
	}
	if len(text) <= maxMaskedText {
		s.masked[text] = out
	}
	return out
}
