package kserve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// answered is a reply, whatever the protocol.
type answered struct {
	model, version, id string
	outputs            []given
}

type given struct {
	name, datatype string
	shape          []int64
}

func (g *given) values() int {
	n := 1
	for _, d := range g.shape {
		n *= int(d)
	}
	return n
}

func (g *given) data() []byte {
	if g.datatype == "BYTES" {
		return []byte(strings.Repeat("\x01\x00\x00\x00a", g.values()))
	}
	return make([]byte, g.values()*tensor.DataType(g.datatype).Size())
}

func dims(shape []int64) string { return strings.ReplaceAll(fmt.Sprint(shape), " ", ",") }

// overHTTP is the reply as HTTP has it, with tensors in its JSON or behind it.
func (a *answered) overHTTP(json bool) string {
	var members, outputs []string
	for _, m := range [][2]string{{"model_name", a.model}, {"model_version", a.version}, {"id", a.id}} {
		if m[1] != "" {
			members = append(members, fmt.Sprintf(`"%s":"%s"`, m[0], m[1]))
		}
	}
	var raw []byte
	for i := range a.outputs {
		g := &a.outputs[i]
		content := fmt.Sprintf(`"parameters":{"binary_data_size":%d}`, len(g.data()))
		if json {
			value := "0"
			if g.datatype == "BYTES" {
				value = `"a"`
			}
			content = `"data":[` + strings.TrimSuffix(strings.Repeat(value+",", g.values()), ",") + `]`
		} else {
			raw = append(raw, g.data()...)
		}
		outputs = append(outputs,
			fmt.Sprintf(`{"name":"%s","datatype":"%s","shape":%s,%s}`, g.name, g.datatype, dims(g.shape), content))
	}
	text := "{" + strings.Join(append(members, `"outputs":[`+strings.Join(outputs, ",")+"]"), ",") + "}"
	if json {
		return jsonReply(200, text)
	}
	return binaryReply(text, string(raw), len(text))
}

// message is the reply as a ModelInferResponse.
func (a *answered) message() (m []byte) {
	for i, text := range []string{a.model, a.version, a.id} {
		if text != "" {
			m = protow.AppendString(m, protow.Number(i+1), text)
		}
	}
	for i := range a.outputs {
		m = protow.AppendString(m, 5,
			outputMessage(a.outputs[i].name, a.outputs[i].datatype, a.outputs[i].shape, nil))
	}
	for i := range a.outputs {
		m = protow.AppendString(m, 6, a.outputs[i].data())
	}
	return m
}

// judged gives the sample that the reply to a request leaves over each protocol.
func (a *answered) judged(
	t *testing.T, r *backends.Request, target backends.Target, id uint64,
) map[string]*backends.Sample {
	all := map[string]*backends.Sample{}
	for _, over := range []string{"json", "binary", "grpc", "stream"} {
		target.URL, target.Streaming = "http://h:1", over == "stream"
		if over == "grpc" || over == "stream" {
			target.URL = "grpc://h:1"
		}
		request := *r
		if r.Body != nil && target.GRPC() {
			request.Body = protow.AppendString(nil, 1, "m")
		}
		call, err := openFor(t, target).Prepare(request)
		if err != nil {
			t.Fatal(over, err)
		}
		s := &backends.Sample{ID: id}
		all[over] = s
		switch over {
		case "grpc":
			j := &grpcJudge{}
			j.Reply(call, [][]byte{a.message()}, s)
		case "stream":
			j := &streamJudge{}
			j.Reply(call, [][]byte{protow.AppendString(nil, 2, a.message())}, s)
		default:
			w := http1.New(&httpJudge{})
			w.Begin(0, call, backends.Fields{ID: id}, s)
			w.Feed([]byte(a.overHTTP(over == "json")), 5)
		}
	}
	return all
}

// ofM is what the metadata of model m say.
func ofM(change func(*backends.Signature)) *backends.Signature {
	s := &backends.Signature{
		Model: "m", Configured: true, Batched: true, MaxBatch: 8,
		Outputs: []backends.Port{
			{Name: "OUT", Type: tensor.FP32, Shape: []int64{4}},
			{Name: "LABEL", Type: tensor.Bytes, Shape: []int64{-1}},
		},
	}
	if change != nil {
		change(s)
	}
	return s
}

func fromM(outputs ...given) answered {
	return answered{model: "m", version: "1", id: "00000000000000000007", outputs: outputs}
}

// TestWrongAnswers: what the model's metadata do not allow is class decode, and says what was
// wanted and what came, whether the outputs are compared or not.
func TestWrongAnswers(t *testing.T) {
	out := given{"OUT", "FP32", []int64{1, 4}}
	unbatched := ofM(func(s *backends.Signature) { s.Batched, s.MaxBatch = false, 0 })
	guessed := ofM(func(s *backends.Signature) { s.Configured, s.MaxBatch = false, 0 })
	for _, c := range []struct {
		name  string
		sig   *backends.Signature
		items uint32
		reply answered
		want  string
	}{
		{"no outputs", nil, 1, fromM(), "the reply has none of the model's outputs (OUT, LABEL)"},
		{
			"another output", nil, 1, fromM(given{"NOPE", "FP32", []int64{1, 4}}),
			"the reply has none of the model's outputs (OUT, LABEL), but NOPE",
		},
		{"datatype", nil, 1, fromM(given{"OUT", "INT8", []int64{1, 4}}), "output OUT is INT8, wanted FP32"},
		{
			"datatype of the second", nil, 1, fromM(out, given{"LABEL", "INT64", []int64{1, 1}}),
			"output LABEL is INT64, wanted BYTES",
		},
		{
			"datatype, no configuration", guessed, 1, fromM(given{"OUT", "FP64", []int64{1, 4}}),
			"output OUT is FP64, wanted FP32",
		},
		{
			"rank too low", nil, 1, fromM(given{"OUT", "FP32", []int64{4}}),
			"output OUT has the shape [4], the model's is [-1,4]",
		},
		{
			"rank too high", nil, 1, fromM(given{"OUT", "FP32", []int64{1, 1, 4}}),
			"output OUT has the shape [1,1,4], the model's is [-1,4]",
		},
		{"no rank", nil, 1, fromM(given{"OUT", "FP32", nil}), "output OUT has the shape [], the model's is [-1,4]"},
		{
			"rank, no batches", unbatched, 1, fromM(given{"OUT", "FP32", []int64{1, 4}}),
			"output OUT has the shape [1,4], the model's is [4]",
		},
		{
			"a fixed dimension", nil, 1, fromM(given{"OUT", "FP32", []int64{1, 1}}),
			"output OUT has the shape [1,1], the model's is [-1,4]",
		},
		{
			"an empty batch", nil, 1, fromM(given{"OUT", "FP32", []int64{0, 4}}),
			"output OUT has the shape [0,4], the request has a batch of 1",
		},
		{
			"an empty batch, no configuration", guessed, 1, fromM(given{"OUT", "FP32", []int64{0, 4}}),
			"output OUT has the shape [0,4], the request has a batch of 1",
		},
		{"a smaller batch", nil, 3, fromM(out), "output OUT has the shape [1,4], the request has a batch of 3"},
		{
			"a smaller batch, no configuration", guessed, 3, fromM(out),
			"output OUT has the shape [1,4], the request has a batch of 3",
		},
		{
			"a larger batch", nil, 1, fromM(given{"OUT", "FP32", []int64{2, 4}}),
			"output OUT has the shape [2,4], the request has a batch of 1",
		},
		{
			"another model", nil, 1,
			answered{model: "other", outputs: []given{out}},
			"the reply is from model other, wanted m",
		},
		{
			"another version", nil, 1,
			answered{model: "m", version: "99", outputs: []given{out}},
			"the reply is from version 99 of model m, wanted version 1",
		},
	} {
		sig := c.sig
		if sig == nil {
			sig = ofM(nil)
		}
		for _, compared := range []bool{false, true} {
			r := &backends.Request{Signature: sig, Items: c.items}
			if compared {
				r.Expect = &backends.Expect{
					Outputs: []backends.Tensor{
						{Name: "OUT", Type: tensor.FP32, Shape: []int64{1, 4}, Data: make([]byte, 16)},
					},
					Share: backends.ShareOf(1),
				}
			}
			for over, s := range c.reply.judged(t, r, backends.Target{Model: "m", ModelVersion: "1"}, 7) {
				if s.Class != backends.Decode || string(s.Note) != c.want {
					t.Errorf("%s, %s, compared %v: %s %q, want decode %q", c.name, over, compared, s.Class, s.Note, c.want)
				}
			}
		}
	}
}

// TestRightAnswers: what healthy servers answer is no error.
func TestRightAnswers(t *testing.T) {
	out := given{"OUT", "FP32", []int64{1, 4}}
	any4 := func(change func(*backends.Signature)) *backends.Signature {
		return ofM(func(s *backends.Signature) {
			s.Configured, s.MaxBatch = false, 0
			change(s)
		})
	}
	classes := &backends.Request{Outputs: []backends.Output{{Name: "OUT", Classification: 2}}}
	for _, c := range []struct {
		name    string
		sig     *backends.Signature // nil: that of m
		request *backends.Request   // nil: one item
		version string              // of the plan
		reply   answered
	}{
		{"as it says", nil, nil, "1", fromM(out, given{"LABEL", "BYTES", []int64{1, 3}})},
		{"one of two", nil, nil, "1", fromM(out)},
		{"outputs that it does not list", nil, nil, "", fromM(out, given{"EXTRA", "INT8", []int64{9}})},
		{"any version", nil, nil, "", answered{model: "m", version: "3", outputs: []given{out}}},
		{"no version", nil, nil, "1", answered{model: "m", outputs: []given{out}}},
		{
			"the name that its metadata have", ofM(func(s *backends.Signature) { s.Model = "m__isvc-36423" }), nil,
			"",
			answered{model: "m__isvc-36423", outputs: []given{out}},
		},
		{"a batch", nil, &backends.Request{Items: 3}, "", fromM(given{"OUT", "FP32", []int64{3, 4}})},
		{"a dimension of any size is 0", nil, nil, "", fromM(given{"LABEL", "BYTES", []int64{1, 0}})},
		{"classes", nil, classes, "", fromM(given{"OUT", "BYTES", []int64{1, 2}})},
		{"classes without a batch dimension", ofM(func(s *backends.Signature) {
			s.Batched, s.MaxBatch, s.Outputs[0].Shape = false, 0, []int64{2, 2}
		}), classes, "", fromM(given{"OUT", "BYTES", []int64{2}})},
		{
			"a whole body may ask for classes, and for batches", nil, &backends.Request{Body: []byte("{}")}, "",
			fromM(given{"OUT", "BYTES", []int64{3, 2}}),
		},
		{"a decoupled model, nothing", ofM(func(s *backends.Signature) { s.Decoupled = true }), nil, "", fromM()},
		{
			"a decoupled model, some", ofM(func(s *backends.Signature) { s.Decoupled = true }), nil, "",
			fromM(given{"OUT", "FP32", []int64{7, 4}}),
		},
		{
			"a scalar", ofM(func(s *backends.Signature) { s.Outputs[0].Shape = []int64{} }), nil, "",
			fromM(given{"OUT", "FP32", []int64{1}}),
		},
		{
			"a shape tensor", ofM(func(s *backends.Signature) { s.Outputs[0].ShapeTensor = true }), nil, "",
			fromM(given{"OUT", "FP32", []int64{2}}),
		},
		{
			"a detector finds three things", any4(func(*backends.Signature) {}), nil, "",
			fromM(given{"OUT", "FP32", []int64{3, 4}}),
		},
		{
			"metadata without a shape",
			any4(func(s *backends.Signature) { s.Batched, s.Outputs[0].Shape = false, nil }), nil, "",
			fromM(given{"OUT", "FP32", []int64{3, 4}}),
		},
		{
			"metadata that say [-1] of any shape",
			any4(func(s *backends.Signature) { s.Batched, s.Outputs[0].Shape = false, []int64{-1} }), nil, "",
			fromM(given{"OUT", "FP32", []int64{1, 1}}),
		},
		{"metadata without outputs", any4(func(s *backends.Signature) { s.Outputs = nil }), nil, "", fromM()},
		{
			"metadata with an unknown datatype", any4(func(s *backends.Signature) { s.Outputs[0].Type = "FLOAT" }),
			nil, "", fromM(out),
		},
		{
			"no metadata", &backends.Signature{}, nil, "",
			answered{model: "x", outputs: []given{{"X", "INT8", []int64{1}}}},
		},
	} {
		r := backends.Request{Items: 1}
		if c.request != nil {
			r = *c.request
			r.Items = max(r.Items, 1)
		}
		if r.Signature = c.sig; c.sig == nil {
			r.Signature = ofM(nil)
		}
		for over, s := range c.reply.judged(t, &r, backends.Target{Model: "m", ModelVersion: c.version}, 7) {
			if s.Class != backends.OK || s.Flags != 0 {
				t.Errorf("%s, %s: %s %q, flags %b", c.name, over, s.Class, s.Note, s.Flags)
			}
		}
	}
}

// TestReplyIdentity: another id, and no model's name, are marked and no error.
func TestReplyIdentity(t *testing.T) {
	for _, c := range []struct {
		name, id, model string
		want            backends.Flags
	}{
		{"right", "00000000000000000007", "m", 0},
		{"right, without zeros", "7", "m", 0},
		{"none", "", "m", 0},
		{"another", "00000000000000000008", "m", backends.OtherID},
		{"a word", "seven", "m", backends.OtherID},
		{"no model", "7", "", backends.Unnamed},
	} {
		a := fromM(given{"OUT", "FP32", []int64{1, 4}})
		a.id, a.model = c.id, c.model
		for over, s := range a.judged(t, &backends.Request{Signature: ofM(nil), Items: 1},
			backends.Target{Model: "m"}, 7) {
			if s.Class != backends.OK || s.Flags != c.want {
				t.Errorf("%s, %s: %s %q, flags %b, want %b", c.name, over, s.Class, s.Note, s.Flags, c.want)
			}
		}
	}
}

// TestAgainIsOfTheSameRequest: a reply that was in order for one request is looked at again for
// another one.
func TestAgainIsOfTheSameRequest(t *testing.T) {
	w := http1.New(&httpJudge{})
	c := openFor(t, backends.Target{URL: "http://h:1", Model: "m"})
	reply := fromM(given{"OUT", "FP32", []int64{1, 4}})
	for i, want := range []struct {
		items uint32
		class backends.ErrorClass
	}{{1, backends.OK}, {1, backends.OK}, {2, backends.Decode}, {1, backends.OK}} {
		call, err := c.Prepare(backends.Request{Signature: ofM(nil), Items: want.items})
		if err != nil {
			t.Fatal(err)
		}
		s := &backends.Sample{ID: uint64(i)}
		w.Begin(0, call, backends.Fields{}, s)
		reply.id = fmt.Sprintf("%020d", i)
		if w.Feed([]byte(reply.overHTTP(false)), 5); s.Class != want.class || s.Flags != 0 {
			t.Errorf("reply %d: %s %s, flags %b", i, s.Class, s.Note, s.Flags)
		}
	}
}

// TestGenerateAnswers: the outputs are members of an object, without datatypes and shapes.
func TestGenerateAnswers(t *testing.T) {
	target := backends.Target{URL: "http://h:1", Model: "m", Endpoint: Generate}
	call, err := openFor(t, target).Prepare(backends.Request{Signature: ofM(nil), Items: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reply, want string
	}{
		{`{"model_name":"m","model_version":"1","OUT":[1,2]}`, ""},
		{`{"LABEL":"a"}`, ""},
		{`{"model_name":"m"}`, "the reply has none of the model's outputs (OUT, LABEL)"},
		{`{"model_name":"x","OUT":1}`, "the reply is from model x, wanted m"},
		{`{"OUT":1`, "the reply's JSON cannot be read: {\"OUT\":1"},
	} {
		w := http1.New(&objectJudge{})
		s := &backends.Sample{}
		w.Begin(0, call, backends.Fields{}, s)
		w.Feed([]byte(jsonReply(200, c.reply)), 5)
		if string(s.Note) != c.want || (s.Class == backends.OK) != (c.want == "") {
			t.Errorf("%s: %s %q, want %q", c.reply, s.Class, s.Note, c.want)
		}
	}
}
