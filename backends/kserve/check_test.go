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

// TestUncompared: a reply of which nothing is expected must still be one, and have what was asked for.
func TestUncompared(t *testing.T) {
	const head = `{"id":"7","outputs":[{"name":"A","datatype":"INT32","shape":[1],` +
		`"parameters":{"binary_data_size":4}}]}`
	const text = `{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"data":[7]}]}`
	const four = "\x07\x00\x00\x00"
	part := func(old, new string) string { return strings.Replace(head, old, new, 1) }
	long := `{"model_name":"m","outputs":[{"name":"A","datatype":"INT32","shape":[1000],"data":[` +
		strings.Repeat("7,", 999) + `7]}]}`
	middle := `{"model_name":"m","outputs":[{"name":"A","datatype":"INT32","shape":[200],"data":[` +
		strings.Repeat("7,", 199) + "7]}]}\n"
	shaped := func(shape, data string) string {
		return jsonReply(200, `{"outputs":[{"data":`+data+`,"name":"A","datatype":"FP32","shape":`+shape+`}]}`)
	}
	named := []backends.Output{{Name: "A"}}
	for _, c := range []struct {
		name, reply string
		asked       []backends.Output
		class       backends.ErrorClass
		note        string
	}{
		{"raw", binaryReply(head, four, len(head)), named, backends.OK, ""},
		{"raw, all outputs", binaryReply(head, four, len(head)), nil, backends.OK, ""},
		{"JSON", jsonReply(200, text+"\n"), named, backends.OK, ""},
		{"no outputs are some", jsonReply(200, `{"model_name":"m","outputs":[]}`), nil, backends.OK, ""},
		{"an unknown datatype", binaryReply(part("INT32", "FP8"), four, len(head)-2), nil, backends.OK, ""},
		{"no error", jsonReply(200, `{"error":null,`+text[1:]), nil, backends.OK, ""},
		{
			"elsewhere",
			jsonReply(200,
				`{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"parameters":{"shared_memory_region":"r"}}]}`),
			nil, backends.OK, "",
		},
		{"compressed", packed(t, 200, "gzip", "gzip", text), named, backends.OK, ""},
		{"long", jsonReply(200, long), named, backends.OK, ""},
		{"long, compressed", packed(t, 200, "gzip", "gzip", long), named, backends.OK, ""},
		{"between short and long, compressed", packed(t, 200, "gzip", "gzip", middle), named, backends.OK, ""},
		{
			"what JSON has no numbers for",
			jsonReply(200, `{"outputs":[{"name":"A","datatype":"FP32","shape":[3],"data":[NaN,Infinity,-Infinity]}]}`),
			named, backends.OK, "",
		},
		{"values in lists", shaped("[2,1,2]", "[[[1,2.5]],[[-3e+7, 4]]]"), named, backends.OK, ""},
		{"values in a row", shaped("[2,2]", "[1, 2 ,3,\n4 ]"), named, backends.OK, ""},
		{
			"texts", jsonReply(200, `{"outputs":[{"name":"A","datatype":"BYTES","shape":[2],"data":["a,]","\"["]}]}`),
			named, backends.OK, "",
		},
		{
			"truths", jsonReply(200, `{"outputs":[{"name":"A","datatype":"BOOL","shape":[2],"data":[true,false]}]}`),
			named, backends.OK, "",
		},
		{"one value", shaped("[]", "[5]"), named, backends.OK, ""},
		{"no values", shaped("[0]", "[]"), named, backends.OK, ""},
		{"no values in lists", shaped("[2,0]", "[[],[]]"), named, backends.OK, ""},

		{"no error behind the outputs", jsonReply(200, text[:len(text)-1]+`,"error":null}`), nil, backends.OK, ""},

		{
			"an error behind the outputs", jsonReply(200, text[:len(text)-1]+`,"error":"out of memory"}`), nil,
			backends.Server, `"error":"out of memory"`,
		},
		{
			"an error behind another key", jsonReply(200, `{"id":"7","error":"out of memory"}`), nil, backends.Server,
			`"error":"out of memory"`,
		},
		{
			"an error behind raw tensors' outputs",
			binaryReply(head[:len(head)-1]+`,"error":"x"}`, four, len(head)+12), nil, backends.Server, `"error":"x"`,
		},
		{
			"texts for numbers", shaped("[2]", `["a","b"]`), nil, backends.Decode,
			"output A has texts as data, wanted numbers of FP32",
		},
		{"a text behind a number", shaped("[2]", `[1,"2"]`), nil, backends.Decode, "output A has texts as data"},
		{"a text in lists", shaped("[2,1]", `[[1],["2"]]`), nil, backends.Decode, "output A has texts as data"},
		{"an object for a number", shaped("[1]", `[{}]`), nil, backends.Decode, "output A has texts as data"},
		{"a comma too many", shaped("[2]", "[1,2,]"), nil, backends.Decode, "cannot be read"},
		{"a comma too few", shaped("[2]", "[1 2]"), nil, backends.Decode, "cannot be read"},
		{"a number that does not end", shaped("[2]", "[1,2e]"), nil, backends.Decode, "cannot be read"},
		{
			"a word that is none",
			jsonReply(200, `{"outputs":[{"name":"A","datatype":"FP32","shape":[1],"data":[Inf]}]}`), nil,
			backends.Decode, "cannot be read",
		},
		{
			"a word with a digit",
			jsonReply(200, `{"outputs":[{"name":"A","datatype":"FP32","shape":[1],"data":[inf1]}]}`), nil,
			backends.Decode, "cannot be read",
		},
		{
			"other JSON", jsonReply(200, `{"status":"ok"}`), nil, backends.Decode,
			`the reply has no outputs: {"status":"ok"}`,
		},
		{"empty JSON", jsonReply(200, `{}`), nil, backends.Decode, "the reply has no outputs"},
		{
			"other long JSON", jsonReply(200, `{"status":"`+strings.Repeat("ok", 300)+`"}`), nil, backends.Decode,
			"the reply has no outputs",
		},
		{"cut JSON", jsonReply(200, text[:len(text)-3]), nil, backends.Decode, "the reply's JSON cannot be read"},
		{
			"cut long JSON", jsonReply(200, long[:len(long)-3]), nil, backends.Decode,
			"the reply's JSON does not end",
		},
		{"cut head", binaryReply(head[:40], four, 40), nil, backends.Decode, "the reply's JSON cannot be read"},
		{"outputs are no list", jsonReply(200, `{"outputs":{}}`), nil, backends.Decode, "the reply has no outputs"},
		{"too short", binaryReply(head, four[:2], len(head)), nil, backends.Decode, "too short for its outputs"},
		{"too long", binaryReply(head, four+"x", len(head)), nil, backends.Decode, "bytes follow the last output"},
		{
			"a size unlike the shape", binaryReply(part("[1]", "[2]"), four, len(head)), nil, backends.Decode,
			"output A has 4 bytes, its shape takes 8",
		},
		{
			"a shape below zero", binaryReply(part("[1]", "[-1]"), four, len(head)+1), nil, backends.Decode,
			"output A has a shape that no tensor can have: [-1]",
		},
		{
			"a shape too large", shaped("[3, 99999999999999999999]", "[1]"), nil, backends.Decode,
			"no tensor can have: [3, 99999999999999999999]",
		},
		{
			"a shape with too many elements", shaped("[1048576,1048576,2]", "[1]"), nil, backends.Decode,
			"no tensor can have: [1048576,1048576,2]",
		},
		{"a shape of fractions", shaped("[1.5]", "[1]"), nil, backends.Decode, "no tensor can have: [1.5]"},
		{"a shape of texts", shaped(`["1"]`, "[1]"), nil, backends.Decode, `no tensor can have: ["1"]`},
		{"a shape that is no list", shaped(`null`, "[1]"), nil, backends.Decode, `no tensor can have: null`},
		{"a shape that does not end", shaped(`[1,`, "[1]"), nil, backends.Decode, "cannot be read"},
		{
			"a size below zero", binaryReply(part(":4}", ":-4}"), four, len(head)+1), nil, backends.Decode,
			"output A has a binary_data_size that is no size",
		},
		{
			"fewer values", shaped("[2,2]", "[1,2,3]"), nil, backends.Decode,
			"output A has 3 values, its shape takes 4",
		},
		{
			"more values", shaped("[2]", "[1,-2.5e-3,3]"), nil, backends.Decode,
			"output A has 3 values, its shape takes 2",
		},
		{
			"fewer values in lists", shaped("[2,2]", "[[1,2],[3]]"), nil, backends.Decode,
			"output A has 3 values, its shape takes 4",
		},
		{"no values", shaped("[1]", "[]"), nil, backends.Decode, "output A has 0 values, its shape takes 1"},
		{
			"values of nothing", shaped("[0,7]", "[1]"), nil, backends.Decode,
			"output A has 1 values, its shape takes 0",
		},
		{"a value without a list", shaped("[1]", "7"), nil, backends.Decode, "output A has data that are no list"},
		{
			"fewer values of a long reply", jsonReply(200, strings.Replace(middle, "[7,", "[", 1)), named,
			backends.Decode, "output A has 199 values, its shape takes 200",
		},
		{
			"no name", binaryReply(part(`"name":"A",`, ""), four, len(head)-11), nil, backends.Decode,
			"lacks name, datatype or shape",
		},
		{
			"no datatype", binaryReply(part(`"datatype":"INT32",`, ""), four, len(head)-19), nil, backends.Decode,
			"lacks name, datatype or shape of output A",
		},
		{
			"no shape", binaryReply(part(`"shape":[1],`, ""), four, len(head)-12), nil, backends.Decode,
			"lacks name, datatype or shape of output A",
		},
		{
			"no data", jsonReply(200, `{"outputs":[{"name":"A","datatype":"INT32","shape":[1]}]}`), nil,
			backends.Decode, "output A has no data",
		},
		{
			"another output", binaryReply(head, four, len(head)),
			[]backends.Output{{Name: "A"}, {Name: "B"}},
			backends.Decode, "lacks a requested output: B",
		},
		{
			"between short and long, compressed and cut", packed(t, 200, "gzip", "gzip", middle[:len(middle)-4]), nil,
			backends.Decode, "the reply's JSON cannot be read",
		},
		{
			"compressed other JSON", packed(t, 200, "gzip", "gzip", `{"status":"ok"}`), nil, backends.Decode,
			"the reply has no outputs",
		},
	} {
		for _, size := range []int{1 << 20, 13} {
			e := expect(&backends.Request{Outputs: c.asked}, nil)
			e.mayBeCoded = true // compressed replies are asked for
			call := &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: e}
			w := http1.New(&httpJudge{})
			s := &backends.Sample{N: 1} // not one that is looked at closely
			w.Begin(0, call, backends.Fields{}, s)
			for rest := []byte(c.reply); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				w.Feed(rest[:min(size, len(rest))], 5)
			}
			if s.Class != c.class || !strings.Contains(string(s.Note), c.note) ||
				c.class == backends.OK && len(s.Note) > 0 {
				t.Errorf("%s, in reads of %d: %s %q, want %s %q", c.name, size, s.Class, s.Note, c.class, c.note)
			}
		}
	}
}

// TestLookedClosely: of long replies the first is read to its end, and then one in 64.
func TestLookedClosely(t *testing.T) {
	// A comma too many
	long := `{"outputs":[{"name":"A","datatype":"INT32","shape":[600],"data":[` + strings.Repeat("7,",
		599) + `7],}]}`
	call := &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: expect(&backends.Request{}, nil)}
	w := http1.New(&httpJudge{})
	found := 0
	for n := range uint64(6400) {
		s := &backends.Sample{N: n}
		w.Begin(0, call, backends.Fields{}, s)
		w.Feed([]byte(jsonReply(200, long)), 5)
		if s.Class == backends.Decode {
			found++
		}
		if n == 0 && found != 1 {
			t.Error("the first is not read")
		}
	}
	if found < 98 || found > 102 {
		t.Errorf("%d of 6400 are read", found)
	}
}

// TestSeenAgain: only the id may differ in what goes without saying.
func TestSeenAgain(t *testing.T) {
	head := func(id, name string, size int) string {
		return fmt.Sprintf(`{"id":"%s","outputs":[{"name":"%s","datatype":"BYTES","shape":[1],`+
			`"parameters":{"binary_data_size":%d}}]}`, id, name, size)
	}
	a, b := []backends.Output{{Name: "A"}}, []backends.Output{{Name: "B"}}
	judge := &httpJudge{}
	w := http1.New(judge)
	for i, c := range []struct {
		head, raw string
		asked     []backends.Output
		class     backends.ErrorClass
	}{
		{head("00", "A", 4), "1234", a, backends.OK},
		{head("01", "A", 4), "1234", a, backends.OK},
		{head(`"]`, "A", 4), "1234", a, backends.Decode},
		{head(`\"`, "A", 4), "1234", a, backends.OK},
		{head("02", "A", 4), "123", a, backends.Decode},
		{head("02", "A", 5), "1234", a, backends.Decode},
		{head("02", "B", 4), "1234", a, backends.Decode},
		{head("02", "B", 4), "1234", b, backends.OK},
		{head("02", "B", 4), "1234", a, backends.Decode},
		{head("03", "A", 4), "1234", b, backends.Decode},
		{head("003", "A", 4), "1234", a, backends.OK},
		{head("004", "A", 4), "12345", a, backends.Decode},
	} {
		call := &backends.Call{
			Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: expect(&backends.Request{Outputs: c.asked}, nil),
		}
		s := &backends.Sample{N: 1}
		w.Begin(0, call, backends.Fields{}, s)
		w.Feed([]byte(binaryReply(c.head, c.raw, len(c.head))), 5)
		if s.Class != c.class {
			t.Errorf("reply %d: %s %s, want %s", i, s.Class, s.Note, c.class)
		}
	}
}

// TestUncomparedMessages: over gRPC, in one piece and in pieces of one byte; of a stream each
// response may have some outputs.
func TestUncomparedMessages(t *testing.T) {
	field := func(n protow.Number, text []byte) []byte { return protow.AppendString(nil, n, text) }
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	model := field(1, []byte("m"))
	a, b := field(5,
		outputMessage("A", "INT16", []int64{2}, nil)), field(5, outputMessage("B", "BYTES", []int64{1}, nil))
	typed := func(name, datatype string, n int64, contents []byte) []byte {
		return field(5, outputMessage(name, datatype, []int64{n}, contents))
	}
	four := field(6, []byte("1234"))
	named := []backends.Output{{Name: "A"}, {Name: "B"}}
	for _, c := range []struct {
		name    string
		message []byte
		asked   []backends.Output
		want    string // unary
		stream  bool   // it is good on a stream all the same
	}{
		{"raw", join(model, a, b, four, field(6, []byte("\x00\x00\x00\x00"))), named, "", true},
		{
			"typed",
			join(typed("A", "INT16", 2, protow.AppendInts(nil, 2, []int64{7, 800})),
				typed("B", "BYTES", 1, field(8, []byte("x")))),
			named, "", true,
		},
		{
			"typed, not packed", typed("A", "UINT64", 2, protow.AppendUint(protow.AppendUint(nil, 5, 1), 5, 1<<60)),
			nil, "", true,
		},
		{
			"typed floats",
			join(typed("A", "FP32", 3, field(6, make([]byte, 12))), typed("B", "FP64", 2, field(7, make([]byte, 16)))),
			nil, "", true,
		},
		{"typed nothing", typed("A", "FP32", 0, nil), nil, "", true},
		{
			"texts for numbers", typed("A", "INT32", 1, field(8, []byte("x"))), nil,
			"output A has texts as data, wanted numbers of INT32", false,
		},
		{
			"texts for floats", typed("A", "FP64", 2, join(field(8, nil), field(8, nil))), nil,
			"output A has texts as data, wanted numbers of FP64", false,
		},
		{
			"fewer typed", typed("A", "INT64", 3, protow.AppendInts(nil, 3, []int64{7, 1 << 40})), nil,
			"an output has 2 values, its shape takes 3", false,
		},
		{
			"more typed", typed("A", "BYTES", 1, join(field(8, nil), field(8, nil))), nil,
			"an output has 2 values, its shape takes 1", false,
		},
		{
			"fewer typed floats", typed("A", "FP32", 3, field(6, make([]byte, 8))), nil,
			"an output has 2 values, its shape takes 3", false,
		},
		{"neither raw nor typed", a, nil, "an output has 0 values, its shape takes 2", false},
		{"no outputs", model, nil, "", true},
		{"an unknown field", join(model, protow.AppendUint(nil, 99, 5)), nil, "", true},
		{"an unknown datatype", join(field(5, outputMessage("A", "FP8", []int64{2}, nil)), four), nil, "", true},
		{"nothing", nil, nil, "the reply is not a ModelInferResponse", false},
		{"only an id", field(3, []byte("7")), nil, "the reply is not a ModelInferResponse", false},
		{"a number for a name", protow.AppendUint(nil, 1, 5), nil, "the reply is not a ModelInferResponse", false},
		{"cut", join(model, a, four)[:20], nil, "the reply is no protobuf message", false},
		{"an output cut", join(model, field(5, []byte("\x0a\x05A"))), nil, "", false},
		{"fewer raw", join(model, a, b, four), nil, "the reply does not have the data of each output", false},
		{"more raw", join(model, a, four, four), nil, "the reply does not have the data of each output", false},
		{
			"a size unlike the shape", join(model, a, field(6, []byte("12"))), nil,
			"an output has 2 bytes, its shape takes 4", false,
		},
		{
			"no data of one", join(model, a, b, field(6, nil), four), named,
			"an output has 0 bytes, its shape takes 4", false,
		},
		{
			"a shape below zero", join(model, field(5, outputMessage("A", "INT16", []int64{2, -1}, nil))), nil,
			"an output has a shape that no tensor can have: [2 -1]", false,
		},
		{
			"no name", join(model, field(5, outputMessage("", "INT16", []int64{2}, nil))), nil,
			"the reply lacks name or datatype of an output", false,
		},
		{
			"no datatype", join(model, field(5, field(1, []byte("A")))), nil,
			"the reply lacks name or datatype of an output", false,
		},
		{"one is missing", join(model, a, four), named, "the reply lacks a requested output", true},
	} {
		e := expect(&backends.Request{Outputs: c.asked}, nil)
		var bytewise [][]byte
		for i := range c.message {
			bytewise = append(bytewise, c.message[i:i+1])
		}
		var g grpcCheck
		for _, pieces := range [][][]byte{{c.message}, bytewise} {
			got := g.message(e, pieces, &backends.Sample{})
			if c.name == "an output cut" {
				if got == "" {
					t.Errorf("%s: nothing is wrong", c.name)
				}
			} else if got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
		if got := g.streamed(e, [][]byte{protow.AppendString(nil, 2, c.message)},
			&backends.Sample{}); (got == "") != c.stream {
			t.Errorf("%s, on a stream: %q", c.name, got)
		}
	}
}

// TestElsewhere: outputs that may lie in shared memory, as far as the request shows, have no
// contents or empty ones; others have what their shapes take.
func TestElsewhere(t *testing.T) {
	message := func(contents ...string) (m []byte) {
		m = protow.AppendString(m, 1, "m")
		for _, name := range []string{"A", "B"} {
			m = protow.AppendString(m, 5, outputMessage(name, "INT16", []int64{2}, nil))
		}
		for _, c := range contents {
			m = protow.AppendString(m, 6, c)
		}
		return m
	}
	const less, unlike = "the reply does not have the data of each output", "an output has 3 bytes, its " +
		"shape takes 4"
	for _, c := range []struct {
		name, bare, may string // what is wrong where all must be in the reply, and where it may lie elsewhere
		message         []byte
	}{
		{"neither", "an output has 0 values, its shape takes 2", "", message()},
		{"both", "", "", message("1234", "1234")},
		{"the first, the other empty", "an output has 0 bytes, its shape takes 4", "", message("1234", "")},
		{"the second, the other empty", "an output has 0 bytes, its shape takes 4", "", message("", "1234")},
		{"one, the other not there", less, "", message("1234")},
		{"the second cut", unlike, unlike, message("1234", "123")},
		{"the second cut, the other empty", "an output has 0 bytes, its shape takes 4", unlike, message("", "123")},
		{"more than there are", less, less, message("1234", "1234", "1234")},
	} {
		for whose, e := range map[string]*expectation{
			"bare":   expect(&backends.Request{}, nil),
			"shared": expect(&backends.Request{}, &Places{}),
			"body":   expect(&backends.Request{Body: []byte("x")}, nil),
		} {
			want := c.may
			if whose == "bare" {
				want = c.bare
			}
			var g grpcCheck
			if got := g.message(e, [][]byte{c.message}, &backends.Sample{}); got != want {
				t.Errorf("%s, %s: %q, want %q", c.name, whose, got, want)
			}
		}
	}
}

// Looking at replies allocates nothing.
func TestLookingAllocatesNothing(t *testing.T) {
	port := func(name string) backends.Port {
		return backends.Port{Name: name, Type: tensor.Int32, Shape: []int64{16}}
	}
	request := &backends.Request{
		Model: "simple", ModelVersion: "1", Items: 1, Outputs: []backends.Output{{Name: "OUTPUT1"}},
		Signature: &backends.Signature{
			Model: "simple", Configured: true, Batched: true,
			Outputs: []backends.Port{port("OUTPUT0"), port("OUTPUT1")},
		},
	}
	call := &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: expect(request, nil)}
	judge, sample, pieces := &grpcCheck{}, &backends.Sample{}, [][]byte{grpcReply()}
	for name, one := range map[string]func(n int){
		"raw":  feeder(t, call, func(n int) []byte { return numbered(n, false) }),
		"json": feeder(t, call, func(n int) []byte { return numbered(n, true) }),
		"grpc": func(int) {
			if what := judge.message(call.Impl.(*expectation), pieces, sample); what != "" {
				t.Error(what)
			}
		},
	} {
		n := 0
		if got := testing.AllocsPerRun(200, func() { one(n); n++ }); got != 0 {
			t.Errorf("%s: %v allocations for a reply", name, got)
		}
	}
}

// feeder gives a wire reply after reply, each with an id and values of its own.
func feeder(t *testing.T, call *backends.Call, reply func(n int) []byte) func(n int) {
	var replies [16][]byte
	for i := range replies {
		replies[i] = reply(i)
	}
	w, s := http1.New(&httpJudge{}), &backends.Sample{}
	return func(n int) {
		s.Reset()
		s.N = uint64(n)
		w.Begin(0, call, backends.Fields{}, s)
		if w.Feed(replies[n%len(replies)], 5); s.Class != backends.OK {
			t.Errorf("%s %s", s.Class, s.Note)
		}
	}
}
