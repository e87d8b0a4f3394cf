package feed

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

const byteMark = "\xef\xbb\xbf" // in front of texts that some programs write

// files writes files, named by their key, and gives a dataset of all of them.
func files(t *testing.T, texts ...string) *scenario.Dataset {
	t.Helper()
	d := &scenario.Dataset{
		Name: "main", Source: "file", Order: "sequential", AtEnd: "repeat", Pos: source.Pos{Line: 1},
	}
	dir := t.TempDir()
	for i := 0; i < len(texts); i += 2 {
		name := filepath.Join(dir, texts[i])
		if err := os.WriteFile(name, []byte(texts[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
		d.Files = append(d.Files, scenario.Path{Name: name, Pos: source.Pos{Line: 2 + i/2}})
	}
	return d
}

// model is a signature written as "name:TYPE[dims] …"; "?" behind a name: optional, "!": a shape
// tensor, "->": outputs.
func model(t *testing.T, maxBatch int, text string) backends.Signature {
	t.Helper()
	s := backends.Signature{Model: "m", MaxBatch: maxBatch, Batched: maxBatch > 0, Classes: true}
	into := &s.Inputs
	for word := range strings.FieldsSeq(text) {
		if word == "->" {
			into = &s.Outputs
			continue
		}
		at := strings.LastIndex(word, ":")
		typ, dims, _ := strings.Cut(strings.TrimSuffix(word[at+1:], "]"), "[")
		p := backends.Port{Name: strings.TrimRight(word[:at], "?!"), Type: tensor.DataType(typ), Shape: []int64{}}
		p.Optional, p.ShapeTensor = strings.HasSuffix(word[:at], "?"), strings.HasSuffix(word[:at], "!")
		for d := range strings.SplitSeq(dims, ",") {
			if d == "" {
				continue
			}
			n, err := strconv.ParseInt(d, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			p.Shape = append(p.Shape, n)
		}
		*into = append(*into, p)
	}
	return s
}

// show writes requests as text: "a[1,2]=1,2 b[1]=x -> OUT[1]=3 {k:v} items 2".
func show(built Built) string {
	var b strings.Builder
	for i, r := range built.Requests {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(tensors(r.Inputs))
		if r.Expect != nil && r.Expect.Outputs != nil {
			b.WriteString(" -> " + tensors(r.Expect.Outputs))
		}
		for _, p := range r.Parameters {
			fmt.Fprintf(&b, " %s:%T=%v", p.Name, p.Value, p.Value)
		}
		if len(r.Outputs) > 0 {
			var names []string
			for _, o := range r.Outputs {
				if o.Classification > 0 {
					o.Name += "/" + strconv.FormatInt(o.Classification, 10)
				}
				names = append(names, o.Name)
			}
			fmt.Fprintf(&b, " %v", names)
		}
		if r.Items > 1 {
			fmt.Fprintf(&b, " items %d", r.Items)
		}
		if r.Body != nil {
			fmt.Fprintf(&b, "%q", r.Body)
		}
	}
	if built.Streams != nil {
		fmt.Fprintf(&b, " streams %v", built.Streams)
	}
	if built.Delays != nil {
		fmt.Fprintf(&b, " delays %v", built.Delays)
	}
	return b.String()
}

func tensors(list []backends.Tensor) string {
	var all []string
	for _, t := range list {
		text := t.Name + strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ",") + "="
		var values []string
		for rest := t.Data; len(rest) > 0; {
			size := t.Type.Size()
			if size == 0 {
				n := 4 + int(rest[0]) + int(rest[1])<<8
				values, rest = append(values, strconv.Quote(string(rest[4:n]))), rest[n:]
				continue
			}
			values, rest = append(values, string(tensor.AppendValue(nil, t.Type, rest))), rest[size:]
		}
		all = append(all, text+strings.Join(values, ","))
	}
	return strings.Join(all, " ")
}

// npyFile is a NumPy file as numpy.save writes it.
func npyFile(descr, order, shape, data string) string {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, order, shape)
	head += strings.Repeat(" ", 118-len(head)-1) + "\n"
	return format.NpyMagic + "\x01\x00" + string([]byte{byte(len(head)), byte(len(head) >> 8)}) + head + data
}

// TestFormats: what each form of data makes, or what it is refused with.
func TestFormats(t *testing.T) {
	le := func(list ...uint32) string {
		var b []byte
		for _, v := range list {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		return string(b)
	}
	for _, c := range []struct {
		name, model string
		maxBatch    int
		format      string
		files       []string
		columns     string // field=column …
		want        string // requests, or "error: " and part of the first diagnostic
	}{
		// Tables.
		{
			"csv", "a:FP32[1] s:BYTES[1] flag:BOOL[1]", 0, "",
			[]string{"r.csv", "a,s,flag\n1,hello,true\n-2.5e1,\"x, y\"\"\n2\",False\n"},
			"",
			`a[1]=1 s[1]="hello" flag[1]=true; a[1]=-25 s[1]="x, y\"\n2" flag[1]=false`,
		},
		{
			"csv lists", "a:INT32[2]", 8, "",
			[]string{"r.csv", "a\n\"[1, 2]\"\n\"[[3],[4]]\"\n"},
			"",
			`error: shape [2 1] has 2 dimensions`,
		},
		{"csv list", "a:INT32[2]", 8, "", []string{"r.csv", "a\n\"[1, 2]\"\n"}, "", `a[1,2]=1,2`},
		{
			"csv fields", "a:INT64[1] -> o:INT64[1]", 0, "",
			[]string{
				"r.csv",
				"a,outputs.o,parameters.k,parameters.w,id,session_id,delay,timestamp\n1,2,3,x,q,s,5,1\n4,,2.5,,,s,,2\n",
			},
			"",
			`a[1]=1 -> o[1]=2 k:int64=3 w:string=x; a[1]=4 k:float64=2.5 streams [[0 1]] delays [5000000 -1]`,
		},
		{"csv columns", "a:INT64[1]", 0, "", []string{"r.csv", "x,junk\n1,u\n"}, "inputs.a=x", `a[1]=1`},
		{
			"csv optional", "a:INT64[1] b?:BYTES[1] c:BYTES[1]", 0, "",
			[]string{"r.csv", "a,b,c\n1,,\n"},
			"",
			`a[1]=1 c[1]=""`,
		},
		{
			"csv empty cell", "a:INT64[1]", 0, "",
			[]string{"r.csv", "a,b\n,\n"},
			"inputs.a=a",
			`error: r.csv, line 2 has no data for "a"`,
		},
		{
			"csv bad number", "a:INT64[1]", 0, "",
			[]string{"r.csv", "a\n1\n\nx\n"},
			"",
			`error: r.csv, line 4, input "a": "x" does not fit INT64: it is no number`,
		},
		{
			"csv fraction", "a:INT64[1]", 0, "",
			[]string{"r.csv", "a\n1.5\n"},
			"",
			`error: r.csv, line 2, input "a": 1.5 does not fit INT64: it is not a whole number`,
		},
		{
			"csv range", "a:UINT8[1]", 0, "",
			[]string{"r.csv", "a\n256\n"},
			"",
			`error: input "a": 256 does not fit UINT8: it is out of range`,
		},
		{
			"csv unknown column", "a:INT64[1]", 0, "",
			[]string{"r.csv", "a,label\n1,2\n"},
			"",
			`error: r.csv, line 2: model "m" has no input "label"`,
		},
		{
			"csv ragged", "a:INT64[1]", 0, "",
			[]string{"r.csv", "a,b\n1\n"},
			"",
			`error: line 2: the row has another number of cells`,
		},
		{
			"csv quote", "a:INT64[1]", 0, "",
			[]string{"r.csv", "a\n\"1\n"},
			"",
			`error: r.csv: line 2, column 4: extraneous or missing`,
		},
		{"csv twice", "a:INT64[1]", 0, "", []string{"r.csv", "a,a\n1,1\n"}, "", `error: duplicate column "a"`},
		{"csv without rows", "a:INT64[1]", 0, "", []string{"r.csv", "a\n"}, "", `error: there are no rows below`},
		{
			"csv missing column", "a:INT64[1]", 0, "",
			[]string{"r.csv", "x\n1\n"},
			"inputs.a=y inputs.b=x",
			`error: no row has a column "y"`,
		},
		{
			"csv prompt", "a:INT64[1]", 0, "",
			[]string{"r.csv", "x\n1\n"},
			"prompt=x",
			`error: nothing reads "prompt": model "m" takes tensors`,
		},

		// Rows.
		{
			"jsonl", "a:FP32[-1]", 4, "",
			[]string{"r.jsonl", "{\"a\":[1,2]}\n\n{\"a\":3}\r\n"},
			"",
			`a[1,2]=1,2; a[1,1]=3`,
		},
		{
			"jsonl parts", "a:FP32[1] -> o:FP32[1]", 0, "",
			[]string{
				"r.jsonl", `{"inputs":{"a":[1]},"outputs":{"o":2},"parameters":{"k":true,"s":"t","n":null},"id":"q"}`,
			},
			"",
			`a[1]=1 -> o[1]=2 k:bool=true s:string=t`,
		},
		{
			"jsonl v2", "a:FP32[1]", 4, "",
			[]string{"r.jsonl", `{"inputs":[{"name":"a","shape":[1,1],"datatype":"FP32","data":[1]}]}`},
			"",
			`a[1,1]=1`,
		},
		{
			"jsonl columns", "a:BYTES[1]", 0, "",
			[]string{"r.jsonl", `{"question":"why?","label":3}`},
			"inputs.a=question parameters.k=label", `a[1]="why?" k:int64=3`,
		},
		{
			"jsonl sessions", "a:INT8[1]", 0, "",
			[]string{
				"r.jsonl",
				"{\"a\":1,\"session_id\":1}\n{\"a\":2,\"session_id\":2}\n{\"a\":3,\"session_id\":1,\"delay\":\"1.5s\"}\n{\"a\":4,\"session_id\":2}",
			},
			"",
			`a[1]=1; a[1]=2; a[1]=3; a[1]=4 streams [[0 2] [1 3]] delays [-1 -1 1500000000 -1]`,
		},
		{
			"jsonl session missing", "a:INT8[1]", 0, "",
			[]string{"r.jsonl", "{\"a\":1,\"session_id\":1}\n{\"a\":2}"},
			"", `error: r.jsonl, line 1 and r.jsonl, line 2: one has a session_id and the other has none`,
		},
		{
			"jsonl broken", "a:INT8[1]", 0, "",
			[]string{"r.jsonl", "{\"a\":1}\n{\"a\":1,}"},
			"",
			`error: r.jsonl: line 2, column 8: found "}", want`,
		},
		{
			"jsonl null", "a:INT8[1]", 0, "",
			[]string{"r.jsonl", `{"a":null}`},
			"",
			`error: r.jsonl, line 1 has no data for "a"`,
		},
		{"jsonl twice", "a:INT8[1]", 0, "", []string{"r.jsonl", `{"a":1,"a":2}`}, "", `error: duplicate "a"`},
		{
			"jsonl parameter", "a:INT8[1]", 0, "",
			[]string{"r.jsonl", `{"a":1,"parameters":{"k":[1]}}`},
			"",
			`error: r.jsonl, line 1: parameter "k" is a list`,
		},
		{"jsonl empty", "a:INT8[1]", 0, "", []string{"r.jsonl", "\n"}, "", `error: there are no rows`},
		{"json", "a:INT8[1]", 0, "", []string{"r.json", `[{"a":1},{"a":[2]}]`}, "", `a[1]=1; a[1]=2`},
		{"json lines", "a:INT8[1]", 0, "", []string{"r.json", "{\"a\":1}\n{\"a\":[2]}"}, "", `a[1]=1; a[1]=2`},
		{
			"json string number", "a:INT8[1]", 0, "",
			[]string{"r.json", `[{"a":"1"}]`},
			"",
			`error: r.json, row 0, input "a"[0]: "1" does not fit INT8: it is a string, not a whole number`,
		},
		{
			"json bytes of any kind", "a:BYTES[3]", 0, "",
			[]string{"r.json", `[{"a":["x\u0000y",{"b64":"/wA="},""]}]`},
			"", `a[3]="x\x00y","\xff\x00",""`,
		},

		// KServe v2.
		{
			"v2 body", "a:FP32[2] b:BYTES[1]", 4, "",
			[]string{
				"r.json",
				`{"id":"7","parameters":{"k":1},"inputs":[{"name":"a","shape":[2,2],"datatype":"FP32","data":[[1,2],` +
					`[3,4]]},{"name":"b","shape":[2,1],"datatype":"BYTES","data":["x","y"]}],"outputs":[{"name":"o"}]}`,
			},
			"",
			`error: r.json ("7"): model "m" has no output "o"`,
		},
		{
			"v2 batch", "a:FP32[2] -> o:FP32[2]", 4, "",
			[]string{
				"r.json",
				`{"parameters":{"k":1},"inputs":[{"name":"a","shape":[2,2],"datatype":"FP32","data":[1,2,3,4]}],` +
					`"outputs":[{"name":"o"}]}`,
			},
			"",
			`a[2,2]=1,2,3,4 k:int64=1 [o] items 2`,
		},
		{
			"v2 classes", "a:FP32[2] -> o:FP32[2] p:FP32[1]", 4, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1,2],"datatype":"FP32","data":[1,2]}],"outputs":[{"name":"o",` +
					`"parameters":{"binary_data":true,"classification":2}},{"parameters":{},"name":"p"}]}`,
			},
			"",
			`a[1,2]=1,2 [o/2 p]`,
		},
		{
			"v2 classes of texts", "a:FP32[2] -> o:BYTES[2]", 4, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1,2],"datatype":"FP32","data":[1,2]}],"outputs":[{"name":"o",` +
					`"parameters":{"classification":2}}]}`,
			},
			"",
			`error: r.json: output "o" of model "m" is BYTES, of which there are no classes`,
		},
		{
			"v2 classes of nothing", "a:FP32[-1] -> o:FP32[-1]", 4, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1,0],"datatype":"FP32","data":[]}],"outputs":[{"name":"o",` +
					`"parameters":{"classification":2}}]}`,
			},
			"",
			`error: r.json: input "a" has the shape [0], without an element of which there could be classes in ` +
				`output "o"`,
		},
		{
			"v2 classes of no rows", "a:FP32[2] -> o:FP32[2]", 4, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[0,2],"datatype":"FP32","data":[]}],"outputs":[{"name":"o",` +
					`"parameters":{"classification":2}}]}`,
			},
			"",
			`error: r.json, input "a": shape [0 2] has no batch dimension in front, which the model takes`,
		},
		{
			"v2 no number of classes", "a:FP32[2] -> o:FP32[2]", 4, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1,2],"datatype":"FP32","data":[1,2]}],"outputs":[{"name":"o",` +
					`"parameters":{"classification":-2}}]}`,
			},
			"",
			`error: "classification" must be a whole number of classes, found -2`,
		},
		{
			"v2 inputs alone", "a:INT32[1]", 4, "",
			[]string{"r.json", `[{"name":"a","shape":[1,1],"datatype":"INT32","data":[5]}]`},
			"", `a[1,1]=5`,
		},
		{
			"v2 input alone", "a:INT32[1]", 0, "",
			[]string{"r.json", `{"name":"a","shape":[1],"datatype":"INT32","data":[5]}`},
			"", `a[1]=5`,
		},
		{"v2 raw", "a:INT32[1] b:INT8[2]", 0, "", []string{
			"r.json",
			`{"inputs":[{"name":"b","shape":[2],"datatype":"INT8","parameters":{"binary_data_size":2}},` +
				`{"name":"a","shape":[1],"datatype":"INT32","parameters":{"binary_data_size":4}}]}` + "\x01\x02" + le(9),
		}, "", `a[1]=9 b[2]=1,2`},
		{
			"v2 raw cut", "a:INT32[1]", 0, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","parameters":{"binary_data_size":4}}]}` + "\x01",
			},
			"", `error: input "a" has binary_data_size 4, and 1 bytes follow`,
		},
		{
			"v2 datatype", "a:INT32[1]", 0, "",
			[]string{"r.json", `{"inputs":[{"name":"a","shape":[1],"datatype":"INT64","data":[5]}]}`},
			"",
			`error: r.json, input "a": datatype is INT64, the model's is INT32`,
		},
		{
			"v2 shape", "a:INT32[3]", 0, "",
			[]string{"r.json", `{"inputs":[{"name":"a","shape":[2],"datatype":"INT32","data":[5,6]}]}`},
			"",
			`error: r.json, input "a": shape [2] does not fit the model's [3]`,
		},
		{
			"v2 count", "a:INT32[-1]", 0, "",
			[]string{"r.json", `{"inputs":[{"name":"a","shape":[3],"datatype":"INT32","data":[5,6]}]}`},
			"",
			`error: shape [3] has 3 elements, 2 found`,
		},
		{
			"v2 no batch dimension", "a:INT32[]", 8, "",
			[]string{"r.json", `{"inputs":[{"name":"a","shape":[],"datatype":"INT32","data":[5]}]}`},
			"",
			`error: has no batch dimension in front`,
		},
		{
			"v2 too large a batch", "a:INT32[1]", 1, "",
			[]string{"r.json", `{"inputs":[{"name":"a","shape":[2,1],"datatype":"INT32","data":[5,6]}]}`},
			"",
			`error: r.json is a batch of 2, model "m" takes at most 1`,
		},
		{
			"v2 without data", "a:INT32[1]", 0, "",
			[]string{"r.json", `{"inputs":[{"name":"a","shape":[1],"datatype":"INT32"}]}`},
			"",
			`error: input "a" has no data`,
		},
		{
			"v2 region", "a:INT32[1]", 0, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","parameters":{"shared_memory_region":"x"}}]}`,
			},
			"", `error: "shared_memory_region": the data of an input must be in the file`,
		},
		{
			"v2 unknown key of an input", "a:INT32[1]", 0, "",
			[]string{"r.json", `{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1],"foo":1}]}`},
			"",
			`error: an input has no "foo": it holds name, shape, datatype, data and parameters`,
		},
		{
			"v2 unknown key of an output", "a:INT32[1] -> o:INT32[1]", 0, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1]}],"outputs":[{"name":"o","foo":1}]}`,
			},
			"", `error: an output has no "foo": it holds name and parameters, and what is expected: shape, datatype and data`,
		},
		{
			"v2 expected output", "a:FP32[2] -> o:FP32[2] p:FP32[1]", 4, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[2,2],"datatype":"FP32","data":[1,2,3,4]}],"outputs":[{"name":"o",` +
					`"shape":[2,2],"datatype":"FP32","data":[[1,2],[3,5]]}]}`,
			},
			"",
			`a[2,2]=1,2,3,4 -> o[2,2]=1,2,3,5 [o] items 2`,
		},
		{
			"v2 expected output without data", "a:INT32[1] -> o:INT32[1]", 0, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1]}],"outputs":[{"name":"o","shape":[1]}]}`,
			},
			"", `error: output "o" is expected, and lacks shape, datatype or data`,
		},
		{
			"v2 expected output of another datatype", "a:INT32[1] -> o:INT32[1]", 0, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1]}],"outputs":[{"name":"o","shape":[1],` +
					`"datatype":"INT64","data":[1]}]}`,
			},
			"", `error: r.json, output "o": datatype is INT64, the model's is INT32`,
		},
		{
			"v2 output without a name", "a:INT32[1] -> o:INT32[1]", 0, "",
			[]string{"r.json", `{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1]}],"outputs":[{}]}`},
			"", `error: an output has no name`,
		},
		{
			"v2 unknown key of a body", "a:INT32[1]", 0, "",
			[]string{"r.json", `{"foo":1,"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1]}]}`},
			"",
			`error: r.json: model "m" has no input "foo"`,
		},
		{
			"v2 region of an output", "a:INT32[1] -> o:INT32[1]", 0, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1]}],"outputs":[{"name":"o",` +
					`"parameters":{"shared_memory_region":"x"}}]}`,
			},
			"", `error: "shared_memory_region": `,
		},
		{
			"v2 parameter that is a list", "a:INT32[1]", 0, "",
			[]string{
				"r.json", `{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1],"parameters":{"k":[1]}}]}`,
			},
			"", `error: parameter "k" is a list; it must be text, a number or a bool`,
		},
		{
			"v2 parameter twice", "a:INT32[1]", 0, "",
			[]string{
				"r.json",
				`{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[1],"parameters":{"k":1,"k":2}}]}`,
			},
			"", `error: duplicate parameter "k"`,
		},
		{
			"v2 body of a client", "a:FP32[1] -> o:FP32[1]", 0, "",
			[]string{
				"r.json",
				`{"id":"","parameters":{"binary_data_output":true,"k":1},"inputs":[{"name":"a","shape":[1],` +
					`"datatype":"FP32","parameters":{"binary_data_size":4}}]}` + le(0x3f800000),
			},
			"",
			`a[1]=1 k:int64=1`,
		},
		{
			"jsonl large parameter", "a:INT8[1]", 0, "",
			[]string{"r.jsonl", `{"a":1,"parameters":{"k":18446744073709551615}}`},
			"",
			`error: r.jsonl, line 1: parameter "k" is 18446744073709551615, which 64 bits with a sign do not hold`,
		},
		{
			"jsonl large float", "a:INT8[1]", 0, "",
			[]string{"r.jsonl", `{"a":1,"parameters":{"k":1e30}}`},
			"",
			`a[1]=1 k:float64=1e+30`,
		},
		{
			"v2 no body", "a:INT32[1]", 0, "v2",
			[]string{"r.json", `{"a":[1]}`},
			"",
			`error: a body has a list of inputs`,
		},
		{
			"v2 several", "a:INT32[1]", 0, "v2",
			[]string{
				"r.json",
				`[{"name":"a","shape":[1],"datatype":"INT32","data":[5]}] ` +
					`{"inputs":[{"name":"a","shape":[1],"datatype":"INT32","data":[6]}]}`,
			},
			"", `a[1]=5; a[1]=6`,
		},

		// Arrays.
		{
			"npy rows", "a:INT32[2]", 4, "",
			[]string{"a.npy", npyFile("<i4", "False", "3, 2", le(1, 2, 3, 4, 5, 6))},
			"", `a[1,2]=1,2; a[1,2]=3,4; a[1,2]=5,6`,
		},
		{
			"npy one", "a:INT32[3,2]", 4, "",
			[]string{"a.npy", npyFile("<i4", "False", "3, 2", le(1, 2, 3, 4, 5, 6))},
			"", `a[1,3,2]=1,2,3,4,5,6`,
		},
		{
			"npy columns first", "a:INT32[2,3]", 0, "",
			[]string{"a.npy", npyFile("<i4", "True", "2, 3", le(1, 2, 3, 4, 5, 6))},
			"", `a[2,3]=1,3,5,2,4,6`,
		},
		{
			"npy big-endian", "a:INT32[1]", 0, "",
			[]string{"a.npy", npyFile(">i4", "False", "1,", "\x00\x00\x00\x07")},
			"", `a[1]=7`,
		},
		{
			"npy to half", "a:FP16[2]", 0, "",
			[]string{"a.npy", npyFile("<i4", "False", "2,", le(1, 65504))},
			"",
			`a[2]=1,65504`,
		},
		{
			"npy over half", "a:FP16[2]", 0, "",
			[]string{"a.npy", npyFile("<i4", "False", "2,", le(1, 65536))},
			"",
			`error: a.npy, row 0, input "a"[1]: 65536 does not fit FP16: it is out of range`,
		},
		{
			"npy of strings", "a:BYTES[2]", 0, "",
			[]string{"a.npy", npyFile("|S3", "False", "2,", "abcd\x00\x00")},
			"", `a[2]="abc","d"`,
		},
		{
			"npy of text", "a:BYTES[]", 4, "",
			[]string{"a.npy", npyFile("<U2", "False", "2,", le('h', 'é', 'x', 0))},
			"", `a[1]="hé"; a[1]="x"`,
		},
		{
			"npy of objects", "a:BYTES[1]", 0, "",
			[]string{"a.npy", npyFile("|O", "False", "1,", "")},
			"",
			`error: a.npy: the dtype "|O" has no datatype`,
		},
		{
			"npy cut", "a:INT32[2]", 0, "",
			[]string{"a.npy", npyFile("<i4", "False", "2,", le(1))},
			"",
			`error: takes 8 bytes, 4 follow the header`,
		},
		{
			"npy by mistake", "a:UINT8[4]", 0, "",
			[]string{"a", npyFile("|u1", "False", "4,", "\x01\x02\x03\x04")},
			"", `a[4]=1,2,3,4`,
		},
		{
			"npy as raw", "a:UINT8[4]", 0, "raw",
			[]string{"a", npyFile("|u1", "False", "4,", "\x01\x02\x03\x04")},
			"", "error: the file begins with the header of a NumPy file: say `format: npy`",
		},
		{
			"npy of two inputs", "a:INT32[1] b:INT32[1] -> o:INT32[1]", 0, "",
			[]string{
				"b.npy", npyFile("<i4", "False", "2, 1", le(3, 4)), "a.npy", npyFile("<i4", "False", "2, 1", le(1, 2)),
				"o.npy", npyFile("<i4", "False", "2, 1", le(5, 6)),
			},
			"",
			`a[1]=1 b[1]=3 -> o[1]=5; a[1]=2 b[1]=4 -> o[1]=6`,
		},
		{
			"npy of unequal length", "a:INT32[1] b:INT32[1]", 0, "",
			[]string{
				"a.npy", npyFile("<i4", "False", "2, 1", le(1, 2)), "b.npy", npyFile("<i4", "False", "1, 1", le(1)),
			},
			"", `error: b.npy has 1 rows, a.npy has 2`,
		},
		{
			"npy unnamed", "a:INT32[1] b:INT32[1]", 0, "",
			[]string{"x.npy", npyFile("<i4", "False", "1,", le(1))},
			"", `error: x.npy is named after no input or output`,
		},

		{
			"npy of rows of nothing", "a:INT32[-1]", 0, "",
			[]string{"a.npy", npyFile("<i4", "False", "3, 0", "")},
			"", `a[0]=; a[0]=; a[0]=`,
		},
		{
			"npy of too many rows of nothing", "a:INT32[-1]", 0, "",
			[]string{"a.npy", npyFile("<i4", "False", "1099511627776, 0", "")},
			"",
			`error: a.npy: shape [1099511627776 0] of <i4: rows and strings without a byte can be 8388608 at most`,
		},
		{
			"npy of too many strings of nothing", "a:BYTES[-1]", 0, "",
			[]string{"a.npy", npyFile("|S0", "False", "1099511627776,", "")},
			"",
			`error: rows and strings without a byte can be 8388608 at most`,
		},
		{
			"npy of too many rows", "a:BOOL[]", 0, "",
			[]string{"a.npy", npyFile("|b1", "False", "8388609,", strings.Repeat("\x01", 8388609))},
			"",
			`error: a.npy has 8388609 rows, no more than 8388608 can be held`,
		},

		// Names that stand twice, and such as say something about the row.
		{
			"jsonl twice over", "a:INT8[1]", 0, "",
			[]string{"r.jsonl", `{"a":1,"inputs":{"a":2}}`},
			"",
			`error: r.jsonl, line 1: input "a" is there 2 times`,
		},
		{
			"csv twice over", "a:INT8[1]", 0, "",
			[]string{"r.csv", "a,inputs.a\n1,2\n"},
			"",
			`error: r.csv, line 2: input "a" is there 2 times`,
		},
		{
			"expected twice over", "a:INT8[1] -> o:INT8[1]", 0, "",
			[]string{"r.jsonl", `{"a":1,"x":1,"y":2}`},
			"inputs.a=a outputs.o=x outputs.o=y", `error: r.jsonl, line 1: output "o" is there 2 times`,
		},
		{"an input named id", "id:INT8[1]", 0, "", []string{"r.jsonl", `{"id":1}`}, "", `id[1]=1`},
		{
			"an input named id beside the row's", "id:INT8[1]", 0, "",
			[]string{"r.jsonl", `{"id":"q","inputs":{"id":[2]}}`},
			"", `id[1]=2`,
		},

		// Outputs that are expected and not asked for.
		{
			"expected and not asked for", "a:FP32[1] -> o:FP32[1] p:FP32[1]", 0, "",
			[]string{
				"r.jsonl", `{"inputs":[{"name":"a","shape":[1],"datatype":"FP32","data":[1]}],"outputs":[{"name":"o"}]}`,
			},
			"",
			`a[1]=1 [o]`,
		},

		// A byte order mark in front of the text.
		{
			"perf_analyzer after a mark", "a:INT8[1]", 0, "",
			[]string{"r.json", byteMark + `{"data":[{"a":[1]}]}`},
			"", `a[1]=1`,
		},
		{"json after a mark", "a:INT8[1]", 0, "", []string{"r.json", byteMark + `[{"a":1}]`}, "", `a[1]=1`},
		{"jsonl after a mark", "a:INT8[1]", 0, "", []string{"r.jsonl", byteMark + `{"a":1}`}, "", `a[1]=1`},
		{"csv after a mark", "a:INT8[1]", 0, "", []string{"r.csv", byteMark + "a\n1\n"}, "", `a[1]=1`},
		{
			"v2 after a mark", "a:INT32[1]", 0, "",
			[]string{"r.json", byteMark + `{"name":"a","shape":[1],"datatype":"INT32","data":[5]}`},
			"", `a[1]=5`,
		},
		{"raw bytes like a mark", "a:UINT8[3]", 0, "raw", []string{"a", byteMark}, "", `a[3]=239,187,191`},

		{
			"columns of perf_analyzer's rows", "a:INT8[1]", 0, "",
			[]string{"r.json", `{"data":[{"a":[1]}]}`},
			"inputs.a=a", "error: `columns` is for rows of jsonl, json and csv files",
		},
		{
			"columns of a v2 body", "a:INT8[1]", 0, "",
			[]string{"r.json", `{"name":"a","shape":[1],"datatype":"INT8","data":[5]}`},
			"inputs.a=a",
			"error: `columns` is for rows of jsonl, json and csv files",
		},
		{
			"columns of an array", "a:INT8[1]", 0, "",
			[]string{"a.npy", npyFile("|i1", "False", "1,", "x")},
			"inputs.a=a", "error: `columns` is for rows of jsonl, json and csv files",
		},

		// Files of one tensor.
		{
			"images", "in:UINT8[-1]", 4, "",
			[]string{"one.jpg", "abc", "two.png", "d"},
			"",
			`in[1,3]=97,98,99; in[1,1]=100`,
		},
		{
			"images as strings", "in:BYTES[1]", 4, "",
			[]string{"one.jpg", "abc\n\xff\n", "two.png", "d"},
			"",
			`in[1,1]="abc\n\xff\n"; in[1,1]="d"`,
		},
		{
			"text of one line", "in:BYTES[-1]", 16, "raw",
			[]string{"t", strings.Repeat("x", 63)},
			"",
			`in[1,1]="` + strings.Repeat("x", 63) + `"`,
		},
		{"the same as bytes", "in:UINT8[-1]", 16, "raw", []string{"t", "xy"}, "", `in[1,2]=120,121`},
		{"text of lines", "in:BYTES[2]", 0, "", []string{"in.txt", "x y\r\nz"}, "", `in[2]="x y","z"`},
		{
			"text of too many lines", "in:BYTES[2]", 0, "",
			[]string{"in.txt", "x\ny\nz\n"},
			"",
			`error: in.txt, row 0, input "in": the shape takes 2 strings, one a line; 3 found`,
		},
		{
			"wrong size", "in:FP32[1]", 0, "",
			[]string{"in.raw", "12345"},
			"",
			`error: 5 bytes are no whole number of FP32`,
		},
		{
			"wrong count", "in:FP32[1]", 0, "",
			[]string{"in.raw", "12345678"},
			"",
			`error: shape [1] has 1 elements, 2 found (4 bytes of FP32, 8 found)`,
		},
		{
			"what is it", "in:FP32[1]", 0, "",
			[]string{"in.dat", "12 34"},
			"",
			"error: what form this has cannot be told",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := files(t, c.files...)
			d.Format = c.format
			for pair := range strings.FieldsSeq(c.columns) {
				field, name, _ := strings.Cut(pair, "=")
				d.Columns = append(d.Columns, scenario.Column{Field: field, Name: name})
			}
			check(t, d, &scenario.Request{Batch: 1}, model(t, c.maxBatch, c.model), c.want)
		})
	}
}

// check builds d and compares with what show gives, or with a part of the first diagnostic.
func check(t *testing.T, d *scenario.Dataset, r *scenario.Request, sig backends.Signature, want string) {
	t.Helper()
	built, diags := Build(d, r, sig, 1)
	got := show(built)
	if part, ok := strings.CutPrefix(want, "error: "); ok {
		if len(diags) == 0 || !strings.Contains(diags[0].Summary, part) {
			t.Errorf("got %q, %v\nwant %q", got, diags, part)
		}
		return
	}
	if len(diags) > 0 {
		t.Error(diags)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFolder: a folder holds a file for each tensor.
func TestFolder(t *testing.T) {
	sig := model(t, 4, "a:INT8[2] name.txt:BYTES[1] -> o:FP16[1]")
	for _, c := range []struct{ files, want string }{
		{"a=\x01\x02 name.txt=hello .hidden=x", `a[1,2]=1,2 name.txt[1,1]="hello"`},
		{"a.raw=\x01\x02 name.txt.txt=hello o=\x00\x3c", `a[1,2]=1,2 name.txt[1,1]="hello" -> o[1,1]=1`},
		{"a=\x01\x02 name.txt=x zz=1", "error: zz is named after no input or output of model \"m\""},
		{"a=\x01\x02", "error: has no data for \"name.txt\""},
		{"a=\x01 name.txt=x", "error: shape [2] has 2 elements, 1 found (2 bytes of INT8, 1 found)"},
		{"", "error: the folder holds no files"},
	} {
		dir := t.TempDir()
		for pair := range strings.FieldsSeq(c.files) {
			name, data, _ := strings.Cut(pair, "=")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := &scenario.Dataset{Source: "dir", Dir: &scenario.Path{Name: dir}}
		check(t, d, &scenario.Request{Batch: 1}, sig, c.want)
	}
}

// TestPlanRows: rows may stand in the plan, and whole bodies in files.
func TestPlanRows(t *testing.T) {
	d := &scenario.Dataset{
		Source: "rows", Rows: []scenario.Row{{JSON: `{"a":1}`}, {JSON: `{"a":[2]}`, Pos: source.Pos{Line: 5}}},
	}
	check(t, d, &scenario.Request{Batch: 2}, model(t, 4, "a:INT8[1]"), "a[2,1]=1,2 items 2")
	d.Rows[1].JSON = `{"a":["x"]}`
	if _, diags := Build(d, &scenario.Request{Batch: 1}, model(t, 4, "a:INT8[1]"), 1); len(diags) != 1 ||
		diags[0].Pos.Line != 5 || !strings.HasPrefix(diags[0].Summary, `rows, row 1, input "a"[0]`) {
		t.Error(diags)
	}
	d = files(t, "one", "{}", "two", "x")
	d.Source = "bodies"
	check(t, d, &scenario.Request{Batch: 1}, backends.Signature{}, `"{}"; "x"`)
	check(t, d, &scenario.Request{Batch: 2}, model(t, 4, "a:INT8[1]"),
		"error: batch is 2, but this data holds whole bodies")
}
