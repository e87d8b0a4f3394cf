package format

import (
	"slices"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// OpenAIBatch is the format of files for OpenAI's batch API, a request a line:
//
//	row := { "custom_id": text, "method": "POST", "url": path, "body": {member, …} }
//
// The members of the body are those of the request, but for model and stream, which the target decides.
const OpenAIBatch = "openai_batch"

// decided lists the members of a body that the target decides.
var decided = []string{"model", "stream", "stream_options"}

func (r *reader) readBatch(data []byte) error { return r.eachLine(data, r.batchRow) }

func (r *reader) batchRow(c *jsonscan.Scanner, number int) {
	if c.Peek() != '{' {
		c.Fail("a row is a map, found %s", jsonscan.Kind(c.Rest()))
		return
	}
	if err := r.room(); err != nil {
		c.Fail("%s", err)
		return
	}
	rec := Record{From: r.from, Stream: -1, Number: number}
	start := len(r.fields.scratch)
	body := false
	for c.Enter('{'); c.More('}'); {
		switch key := string(c.Key()); key {
		case "custom_id":
			rec.about("id", Value{Form: JSONAny, Text: c.Value()})
		case "url":
			rec.Path = string(c.Text())
		case "method":
			if method := string(c.Text()); c.OK() && method != "POST" {
				c.Fail("method is %q: requests of a batch are POST", method)
			}
		case "body":
			body = true
			if r.whole {
				rec.Body, rec.Type = c.Value(), mediaJSON
				continue
			}
			r.bodyMembers(c, start)
		default:
			c.Skip()
		}
	}
	if !body {
		c.Fail(`there is no "body" in this row: a row is {"custom_id": …, "method": "POST", "url": …, "body": {…}}`)
	}
	rec.Inputs = r.fields.take(start)
	r.Records = append(r.Records, rec)
}

// bodyMembers reads the members of a body.
func (r *reader) bodyMembers(c *jsonscan.Scanner, start int) {
	for c.Enter('{'); c.More('}'); {
		name := r.fields.name(c.Key())
		text := c.Value()
		if !slices.Contains(decided, name) {
			r.fields.put(c, start, Field{Name: name, Value: Value{Form: JSONAny, Text: text}})
		}
	}
}
