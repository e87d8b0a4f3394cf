package tfserving

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/protobuf/encoding/protowire"
)

// A request of classify or regress is the JSON of the REST API, over gRPC too:
//
//	{"examples": [{feature: value or list, …}, …], "context": {…}}     is one
//	any other object                                                   is an example of its own
//
// A feature has one kind of values: numbers with a fraction or an exponent are floats, others integers,
// as are true and false; texts, and {"b64": text}, are bytes (MakeExampleFromJsonObject).

// examples is the JSON of a request.
type examples struct {
	list    []json.RawMessage
	context json.RawMessage // nil: none
}

// examplesOf reads the body of a request.
func examplesOf(body []byte) (e examples, err error) {
	var members map[string]json.RawMessage
	switch err := json.Unmarshal(body, &members); {
	case len(body) == 0:
		return e, errors.New("the request has no example: say with `data` what is sent, such as " +
			"data: {rows: [{age: 31.0, job: cook}]}")
	case err != nil:
		return e, errors.New("the body is not a JSON object: an example has features by name")
	case members["examples"] == nil:
		return examples{list: []json.RawMessage{body}}, nil
	}
	e.context = members["context"]
	if json.Unmarshal(members["examples"], &e.list) != nil || len(e.list) == 0 {
		return e, errors.New("`examples` must be a list with at least one example")
	}
	for name := range members {
		if name != "examples" && name != "context" {
			return e, fmt.Errorf("the request has %q beside `examples`: write the signature's name into `signature`",
				name)
		}
	}
	return e, nil
}

// input encodes an Input: example_list 1 {examples 1}, or example_list_with_context 2 {examples 1,
// context 2}.
func (e *examples) input() ([]byte, error) {
	var list []byte
	for i, text := range e.list {
		one, err := exampleOf(text)
		if err != nil {
			return nil, fmt.Errorf("example %d: %w", i, err)
		}
		list = protow.AppendString(list, 1, one)
	}
	if e.context == nil {
		return protow.AppendString(nil, 1, list), nil
	}
	context, err := exampleOf(e.context)
	if err != nil {
		return nil, fmt.Errorf("the context: %w", err)
	}
	return protow.AppendString(nil, 2, protow.AppendString(list, 2, context)), nil
}

// exampleOf encodes an Example: features 1 {feature 1, a map of Feature}.
func exampleOf(text []byte) ([]byte, error) {
	var features map[string]json.RawMessage
	if json.Unmarshal(text, &features) != nil || features == nil {
		return nil, errors.New("it is not a JSON object with features by name")
	}
	var names []string
	for name := range features {
		names = append(names, name)
	}
	slices.Sort(names)
	var all []byte
	for _, name := range names {
		f, err := featureOf(features[name])
		if err != nil {
			return nil, fmt.Errorf("feature %s: %w", name, err)
		}
		all = protow.AppendString(all, 1, protow.AppendString(protow.AppendString(nil, 1, name), 2, f))
	}
	return protow.AppendString(nil, 1, all), nil
}

// Kinds of features: the field of Feature that holds their values.
const (
	bytesList protow.Number = 1
	floatList protow.Number = 2
	int64List protow.Number = 3
)

// featureOf encodes a Feature: bytes_list 1, float_list 2 or int64_list 3, each with value 1. A feature
// without values has none of them.
func featureOf(text []byte) ([]byte, error) {
	list := []json.RawMessage{text}
	if sc := jsonscan.Lenient(text); sc.Peek() == '[' {
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
	}
	var kind protow.Number
	var values []byte
	for _, one := range list {
		is, err := protow.Number(0), error(nil)
		if values, is, err = appendValue(values, one); err != nil {
			return nil, err
		}
		if kind != 0 && kind != is {
			return nil, fmt.Errorf("%s is of another kind than the values before it: write all as floats (1.0), "+
				"integers or texts", one)
		}
		kind = is
	}
	switch kind {
	case 0:
		return nil, nil
	case bytesList:
		return protow.AppendString(nil, kind, values), nil
	}
	return protow.AppendString(nil, kind, protow.AppendString(nil, 1, values)), nil // packed
}

// appendValue appends a value: bytes as a field, numbers packed.
func appendValue(dst, text []byte) (_ []byte, kind protow.Number, err error) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return dst, 0, err
	}
	switch v := v.(type) {
	case bool:
		return protowire.AppendVarint(dst, map[bool]uint64{true: 1}[v]), int64List, nil
	case string:
		return protow.AppendString(dst, 1, v), bytesList, nil
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			f, err := strconv.ParseFloat(v.String(), 32)
			return protowire.AppendFixed32(dst, math.Float32bits(float32(f))), floatList, err
		}
		n, err := v.Int64()
		return protowire.AppendVarint(dst, uint64(n)), int64List, err
	case map[string]any:
		if coded, ok := v["b64"].(string); ok && len(v) == 1 {
			b, err := base64.StdEncoding.DecodeString(coded)
			return protow.AppendString(dst, 1, b), bytesList, err
		}
	}
	return dst, 0, fmt.Errorf("%s is no number, text, true or false", text)
}

// exampleExpectation describes the expected reply to a request of examples.
type exampleExpectation struct {
	statuses []int
	fields   []backends.Field
	share    backends.Share
	classes  bool // of classify, else of regress
	items    int
}

func (e *exampleExpectation) accepts(code int32) bool {
	return code == 0 && len(e.statuses) == 0 || slices.Contains(e.statuses, int(code))
}

// prepareExamples encodes a ClassificationRequest or RegressionRequest: model_spec 1, input 2.
func (c *Conn) prepareExamples(r *backends.Request) (*backends.Call, error) {
	if err := endpoint.CheckWhole(r); err != nil {
		return nil, err
	}
	e, err := examplesOf(r.Body)
	if err != nil {
		return nil, err
	}
	input, err := e.input()
	if err != nil {
		return nil, err
	}
	name, version := modelOf(&c.target, r.Model)
	body := protow.AppendString(appendSpec(nil, name, version, c.target.Signature), 2, input)
	want := &exampleExpectation{classes: c.target.Endpoint == classify, items: len(e.list)}
	if x := r.Expect; x != nil {
		want.statuses, want.fields, want.share = x.Status, x.Fields, x.Share
	}
	call, err := c.Call(methods[c.target.Endpoint], r.Headers, [][]byte{body}, nil, nil, c.target.MaxMessage, want)
	if err != nil {
		return nil, err
	}
	call.Row, call.Items = r.Row, uint32(len(e.list))
	return call, nil
}

// results judges a ClassificationResponse or RegressionResponse: result 1, with one item in field 1 for
// each example. Fields that are expected are those of the REST API's JSON.
func (j *judge) results(e *exampleExpectation, message []byte, s *backends.Sample) {
	var result []byte
	found, items := false, 0
	w := protow.Walk(message)
	for w.Next() {
		if w.Is(1) {
			result, found = w.Bytes, true
		}
	}
	bad := w.Err() != nil
	w = protow.Walk(result)
	for w.Next() {
		if w.Is(1) {
			items++
		}
	}
	switch {
	case !e.accepts(0):
		j.fail(s, backends.Status, "the server answered OK, which is not expected")
	case bad || w.Err() != nil || !found:
		j.fail(s, backends.Decode, "the reply is not a "+map[bool]string{
			true: "ClassificationResponse", false: "RegressionResponse",
		}[e.classes])
	case items != e.items:
		j.fail(s, backends.Decode, fmt.Sprintf("the reply has %d results, the request has %d examples", items, e.items))
	case len(e.fields) > 0 && e.share.Has(s.N):
		j.data = appendResults(j.data[:0], result, e.classes)
		for _, f := range e.fields {
			if j.note = jsonscan.AppendMismatch(j.note[:0], j.data, f.Path, f.Want); len(j.note) > 0 {
				s.Class = backends.Mismatch
				s.SetNote(j.note)
				return
			}
		}
	}
}

// appendResults appends the JSON of a result: {"results": [[[label, score], …], …]} of
// ClassificationResult, {"results": [value, …]} of RegressionResult.
func appendResults(dst, result []byte, classes bool) []byte {
	dst = append(dst, `{"results":[`...)
	sep := ""
	for w := protow.Walk(result); w.Next(); {
		if !w.Is(1) {
			continue
		}
		dst = append(dst, sep...)
		sep = ","
		if !classes {
			dst = appendFloat(dst, w.Bytes, 1)
			continue
		}
		dst = append(dst, '[')
		inner := ""
		for c := protow.Walk(w.Bytes); c.Next(); {
			if !c.Is(1) {
				continue
			}
			label := ""
			for f := protow.Walk(c.Bytes); f.Next(); {
				if f.Is(1) {
					label = string(f.Bytes)
				}
			}
			text, _ := json.Marshal(label)
			dst = append(append(append(append(dst, inner...), '['), text...), ',')
			dst = append(appendFloat(dst, c.Bytes, 2), ']')
			inner = ","
		}
		dst = append(dst, ']')
	}
	return append(dst, "]}"...)
}

// appendFloat appends the float of a field of a message; 0 if it is absent.
func appendFloat(dst, message []byte, field protow.Number) []byte {
	v := float32(0)
	for w := protow.Walk(message); w.Next(); {
		if w.Field == field {
			v = math.Float32frombits(uint32(w.Varint))
		}
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}
