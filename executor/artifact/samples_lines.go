package artifact

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/artifact/clean"
)

// A line of samples.csv or samples.jsonl is one request. Times are relative to the start of the
// run, in the CSV as integer ns, in the JSON in s; a time that did not occur is an empty cell, or
// left out.

// sampleTimes names the times of a sample in their usual order.
var sampleTimes = [...]string{
	"due", "free", "send_start", "send_end", "first_byte", "last_byte", "connect",
}

type flagWord struct {
	flag backends.Flags
	word string
}

// sampleFlags are the words of flags, in the order of output.
var sampleFlags = []flagWord{
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

// sampleLine is a line that is being written.
type sampleLine struct {
	form lineForm
	b    []byte
	n    int // fields so far
}

// lineForm is the form of a line.
type lineForm uint8

const (
	csvHeader lineForm = iota // the names of the columns
	csvLine
	jsonLine
)

// field begins a field and reports whether its value follows: a field that is not there is an empty
// cell, or left out.
func (l *sampleLine) field(name string, there bool) bool {
	if l.form == jsonLine && !there {
		return false
	}
	if l.n++; l.n > 1 {
		l.b = append(l.b, ',')
	}
	switch l.form {
	case csvHeader:
		l.b = append(l.b, name...)
		return false
	case jsonLine:
		l.b = append(append(append(l.b, '"'), name...), `":`...)
	case csvLine:
	}
	return there
}

func (l *sampleLine) text(name, text string, there bool) {
	switch {
	case !l.field(name, there):
	case l.form == jsonLine:
		l.b = appendText(l.b, text)
	default:
		l.b = appendCell(l.b, text)
	}
}

func (l *sampleLine) number(name string, n int64) {
	if l.field(name, true) {
		l.b = strconv.AppendInt(l.b, n, 10)
	}
}

func (l *sampleLine) unsigned(name string, n uint64, there bool) {
	if l.field(name, there) {
		l.b = strconv.AppendUint(l.b, n, 10)
	}
}

// time writes a time in ns, or in s.
func (l *sampleLine) time(ns int64) {
	if l.form == jsonLine {
		l.b = appendSeconds(l.b, ns)
	} else {
		l.b = strconv.AppendInt(l.b, ns, 10)
	}
}

// line appends the line of a request to b.
func (k *TrialWriter) line(b []byte, form lineForm, s *backends.Sample) []byte {
	l := sampleLine{form: form, b: b}
	open, between, end, quote := "", " ", "", "" // of lists and their words
	if form == jsonLine {
		l.b = append(l.b, '{')
		open, between, end, quote = "[", ",", "]", `"`
	}
	mix := ""
	if int(s.Entry) < len(k.trial.Mix) {
		mix = k.of.mask(k.trial.Mix[s.Entry])
	}
	l.text("node", k.of.mask(k.trial.Node), true)
	l.number("trial", int64(k.trial.Number))
	l.text("mix", mix, mix != "")
	l.unsigned("n", s.N, true)
	l.number("row", int64(s.Row))
	l.number("items", int64(s.Items))
	l.unsigned("sequence_id", s.Sequence, s.Sequence != 0)
	l.text("class", s.Class.String(), true)
	l.number("status", int64(s.Status))
	unit := ""
	if form == csvHeader {
		unit = "_ns"
	}
	for i, at := range [len(sampleTimes)]int64{
		s.Due, s.Free, s.SendStart, s.SendEnd, s.FirstByte, s.LastByte, s.Connect,
	} {
		if l.field(sampleTimes[i]+unit, at != 0) {
			l.time(at)
		}
	}
	l.number("bytes_sent", s.BytesSent)
	l.number("bytes_received", s.BytesReceived)
	l.number("responses", int64(s.Responses))
	if l.field("response_times"+unit, slices.ContainsFunc(s.Events, backends.Event.Responds)) {
		before := open
		for _, e := range s.Events {
			if e.Responds() {
				l.b = append(l.b, before...)
				l.time(e.At)
				before = between
			}
		}
		l.b = append(l.b, end...)
	}
	for _, c := range []struct {
		name string
		n    backends.Count
	}{{"input_tokens", s.InputTokens}, {"output_tokens", s.OutputTokens}} {
		n, known := c.n.Get()
		l.unsigned(c.name, uint64(max(n, 0)), known)
	}
	isSet := func(w flagWord) bool { return s.Flags&w.flag != 0 }
	if l.field("flags", slices.ContainsFunc(sampleFlags, isSet)) {
		before := open
		for _, w := range sampleFlags {
			if isSet(w) {
				l.b = append(append(append(append(l.b, before...), quote...), w.word...), quote...)
				before = between
			}
		}
		l.b = append(l.b, end...)
	}
	note := clean.Line(k.of.mask(string(s.Note)))
	l.text("note", note, len(s.Note) > 0)
	if form == jsonLine {
		l.b = append(l.b, '}')
	}
	return append(l.b, '\n')
}

// appendCell appends a text as a cell of a CSV, on one line.
func appendCell(b []byte, text string) []byte {
	text = clean.Cell(clean.Line(text))
	if !strings.ContainsAny(text, `,"`) && text == strings.TrimSpace(text) {
		return append(b, text...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
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

// row writes a line of the table.
func (s *Samples) row(k *TrialWriter, x *backends.Sample) error {
	if err := s.begin(); err != nil {
		return err
	}
	form := jsonLine
	if s.o.Table == "csv" {
		form = csvLine
	}
	return s.table.line(k.line(s.table.buffer[:0], form, x))
}

// begin creates the table, if necessary.
func (s *Samples) begin() (err error) {
	if s.table != nil {
		return nil
	}
	if s.table, err = newSpool(s.dir, "samples."+s.o.Table); err == nil && s.o.Table == "csv" {
		err = s.table.line((&TrialWriter{of: s}).line(nil, csvHeader, &backends.Sample{}))
	}
	return err
}
