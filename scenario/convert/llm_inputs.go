package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"

	"github.com/sluice-bench/sluice/scenario/regular"
)

// extra takes further fields of every request: NAME:VALUE, NAME alone for null, or a JSON object.
func (l *llm) extra(g given) {
	text := strings.TrimSpace(g.value)
	if strings.HasPrefix(text, "{") {
		l.object(g, text)
		return
	}
	name, value, ok := strings.Cut(text, ":")
	switch {
	case name == "" || ok && value == "":
		g.wrong("%s: the name or the value is empty in %q", g, g.value)
	case ok && strings.Contains(value, ":"):
		g.malformed("%s: %q is not NAME:VALUE", g, g.value)
	case !ok:
		l.remark(g.String(), "%s has no value: a plan cannot send null", name)
	default:
		l.parameter(g, name, typed(value))
	}
}

// object takes the members of a JSON object as fields of every request.
func (l *llm) object(g given, text string) {
	if !json.Valid([]byte(text)) {
		g.wrong("%s: %q is no JSON object", g, text)
		return
	}
	l.members(g, "", []byte(text))
}

// members takes the members of a JSON object; those of an object in it have names with dots.
func (l *llm) members(g given, prefix string, object []byte) {
	var members map[string]rawJSON
	_ = json.Unmarshal(object, &members) // it is valid JSON
	for _, name := range sortedKeys(members) {
		value := bytes.TrimSpace(members[name])
		name = prefix + name
		var s string
		switch {
		case bytes.Equal(value, []byte("null")):
			l.remark(g.String(), "%s is null, which a plan cannot send", name)
		case value[0] == '{':
			l.members(g, name+".", value)
		case value[0] == '[':
			l.remark(g.String(), "%s is a list: put it into the rows of the data, as `rows: [{%s: %s, …}]`",
				name, name, plantext.OneLine(string(value)))
		case json.Unmarshal(value, &s) == nil:
			l.parameter(g, name, strconv.Quote(plantext.Escaped(s)))
		default:
			l.parameter(g, name, string(value))
		}
	}
}

// parameter sets a field of every request. A field that is given twice is a mistake.
func (l *llm) parameter(g given, name, value string) {
	if slices.ContainsFunc(l.server.parameters, func(p pair) bool { return p.name == name }) {
		g.wrong("%s: %s is given already", g, name)
		return
	}
	l.server.parameters = append(l.server.parameters, pair{name, value})
}

// sent returns a parameter's value; "": there is none.
func (l *llm) sent(name string) string {
	for _, p := range l.server.parameters {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// drop takes a parameter out, and returns its value; "": there is none.
func (l *llm) drop(name string) string {
	value := l.sent(name)
	l.server.parameters = slices.DeleteFunc(l.server.parameters, func(p pair) bool { return p.name == name })
	return value
}

// outputParameter returns the name of the limit of output tokens.
func (l *llm) outputParameter() string {
	switch l.server.endpoint {
	case "responses":
		return "max_output_tokens"
	case "chat":
		if l.sent("max_completion_tokens") != "" {
			return "max_completion_tokens"
		}
	}
	return "max_tokens"
}

// limit sends a limit of output tokens with every request of a file, unless there is one.
func (l *llm) limit(n float64) {
	if name := l.outputParameter(); n > 0 && l.sent(name) == "" {
		l.server.parameters = append(l.server.parameters, pair{name, plantext.Decimal(n)})
	}
}

// asksLength takes a limit of output tokens among the fields for the length of answers, where prompts are
// generated.
func (l *llm) asksLength() {
	name := l.outputParameter()
	n, err := strconv.ParseInt(l.sent(name), 10, 64)
	if err != nil || n < 1 || l.prompts.file != "" || len(l.prompts.pairs)+len(l.prompts.outputs) > 0 {
		return
	}
	if least := l.sent("min_tokens"); least == l.sent(name) {
		l.drop("min_tokens")
		l.drop("ignore_eos")
		l.prompts.exact = true
	}
	l.drop(name)
	l.prompts.output, l.prompts.limited = fixed(float64(n)), true
}

// metadata takes NAME=VALUE.
func (l *llm) metadata(g given) {
	name, value, ok := strings.Cut(g.value, "=")
	if !ok {
		g.malformed("%s: %q is not NAME=VALUE", g, g.value)
		return
	}
	set(&l.labels, pair{strings.TrimSpace(name), strings.TrimSpace(value)}, func(a,
		b string,
	) bool {
		return a == b
	})
}

// rawJSON is a value as it is written.
type rawJSON = json.RawMessage

// sortedKeys returns the names of a row's members in order.
func sortedKeys(row map[string]rawJSON) []string { return slices.Sorted(maps.Keys(row)) }

// pairUp takes the queries and the passages of a folder as rows: each query with as many passages as a batch
// has. False: the folder has none.
func (l *llm) pairUp(dir string, batch int64) bool {
	const most = 1000
	queries, passages := textsOf(filepath.Join(dir, "queries.jsonl")), textsOf(filepath.Join(dir,
		"passages.jsonl"))
	if len(queries) == 0 || len(passages) == 0 {
		return false
	}
	n := min(len(queries), len(passages), most)
	for i, query := range queries[:n] {
		var list []string
		for k := range min(int(batch), len(passages)) {
			list = append(list, strconv.Quote(plantext.Escaped(passages[(i+k)%len(passages)])))
		}
		l.prompts.rows = append(l.prompts.rows, plantext.Flow("query: "+strconv.Quote(plantext.Escaped(query)),
			cmp.Or(l.prompts.passages, "passages")+": ["+strings.Join(list, ", ")+"]"))
	}
	l.prompts.file, l.prompts.format = "", ""
	return true
}

// textsOf returns the texts of a file of JSON lines.
func textsOf(file string) (all []string) {
	data, err := readFile(file)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(data) {
		var row struct {
			Text  string `json:"text"`
			Input string `json:"text_input"`
		}
		if json.Unmarshal(line, &row) == nil && row.Text+row.Input != "" {
			all = append(all, cmp.Or(row.Text, row.Input))
		}
	}
	return all
}

// firstRow returns the members of the first row of a file of JSON lines; nil: there is none.
func firstRow(file string) map[string]rawJSON {
	const most = 1 << 20
	f, err := regular.Open(file, 1<<50)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, most))
	line, _, _ := bytes.Cut(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))), []byte("\n"))
	var row map[string]rawJSON
	if json.Unmarshal(line, &row) != nil {
		return nil
	}
	return row
}
