package format

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// Verbatim is the history of a dataset whose turns are sent as they are.
const Verbatim = "verbatim"

// checkHistory refuses turns of a session that hold the turns before them, unless they are to be sent as
// they are: the history would be sent twice.
func (r *reader) checkHistory() {
	if r.dataset.History == Verbatim {
		return
	}
	last := map[string]*Record{}
	for i := range r.Records {
		rec := &r.Records[i]
		if rec.Session == "" {
			continue
		}
		if before := last[rec.Session]; before != nil {
			what := repeats(before, rec)
			if what != "" {
				r.fail(rec.From.Pos, "history", "%s: its %s begin with those of %s, so the rows of session %q "+
					"hold their history", rec.Name(), what, before.Name(), rec.Session).
					Help("write `history: verbatim`, and each row is sent as it is")
				return
			}
		}
		last[rec.Session] = rec
	}
}

// repeats names the member of a row that begins with that of the row before; "": none does.
func repeats(before, rec *Record) string {
	a, _ := Find(before.Inputs, "messages")
	b, _ := Find(rec.Inputs, "messages")
	switch {
	case a != nil && b != nil && a.Form != Cell:
		first, then := elements(a.Text), elements(b.Text)
		if len(first) > 0 && len(then) > len(first) && slices.EqualFunc(first, then[:len(first)], bytes.Equal) {
			return "messages"
		}
	case before.Blocks != nil && rec.Blocks != nil:
		whole := before.Blocks.IDs[:min(int(before.Blocks.Tokens/before.Blocks.Size), len(before.Blocks.IDs))]
		if len(whole) > 0 && len(rec.Blocks.IDs) > len(whole) &&
			slices.Equal(whole, rec.Blocks.IDs[:len(whole)]) {
			return hashIDs
		}
	}
	return ""
}

// elements returns the elements of a JSON list in one form: without white space, members by name.
func elements(text []byte) (list [][]byte) {
	c := jsonscan.Strict(text)
	for c.Enter('['); c.More(']'); {
		text := c.Value()
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var v any
		one, err := []byte(nil), d.Decode(&v)
		if err == nil {
			one, err = json.Marshal(v)
		}
		if err != nil {
			one = bytes.Clone(text)
		}
		list = append(list, one)
	}
	return list
}
