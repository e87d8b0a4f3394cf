package artifact

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/result"
)

// kept writes samples of one trial, and gives the files of the folder by name.
func kept(t *testing.T, o SamplesOptions, trial Trial, bounds []int64,
	samples ...backends.Sample,
) map[string]string {
	t.Helper()
	dir := t.TempDir()
	s := NewSamples(dir, o)
	k := s.Trial(trial)
	for i := range samples {
		if err := k.Write(&samples[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Close(bounds); err != nil {
		t.Fatal(err)
	}
	return finished(t, s, dir)
}

func finished(t *testing.T, s *Samples, dir string) map[string]string {
	t.Helper()
	s.Close()
	r := &result.Result{Schema: result.Schema, Tool: result.Tool{Version: "1.2.3"}}
	o := Options{Samples: s}
	if s.o.Export {
		o.Formats = []string{ProfileExport}
	}
	if _, err := write(dir, r, o); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	delete(files, "result.json")
	return files
}

func TestSampleLines(t *testing.T) {
	samples := []backends.Sample{
		{
			Due: 5, Free: 5, SendStart: 10, SendEnd: 12, FirstByte: 1_000_000_020, LastByte: 1_500_000_000,
			N: 7, Row: 3, Items: 2, Entry: 1,
			BytesSent: 100, BytesReceived: 50, Responses: 2, Status: 200, Flags: backends.Warmup |
				backends.Reused,
			Events: []backends.Event{{At: 1_000_000_020}, {At: 1_500_000_000}},
			Tokens: backends.Tokens{InputTokens: backends.CountOf(7), OutputTokens: backends.CountOf(0)},
		},
		{Due: 20, Class: backends.Dial, Sequence: 1 << 63, Note: []byte("no \"route\",\nto host\xff")},
	}
	trial := Trial{Node: "s[a=1,b=2]", Number: 1, Mix: []string{"x", "y"}}
	got := kept(t, SamplesOptions{Table: "csv"}, trial, nil, samples...)
	want := map[string]string{"samples.csv": `node,trial,mix,n,row,items,sequence_id,class,status,due_ns,free_ns,send_start_ns,send_end_ns,first_byte_ns,last_byte_ns,connect_ns,bytes_sent,bytes_received,responses,response_times_ns,input_tokens,output_tokens,flags,note
"s[a=1,b=2]",1,y,7,3,2,,ok,200,5,5,10,12,1000000020,1500000000,,100,50,2,1000000020 1500000000,7,0,warmup reused,
"s[a=1,b=2]",1,x,0,0,0,9223372036854775808,dial,0,20,,,,,,,0,0,0,,,,,"no ""route"", to host` + "\ufffd" + `"
`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = kept(t, SamplesOptions{Table: "jsonl"}, trial, nil, samples...)
	want = map[string]string{"samples.jsonl": `{"node":"s[a=1,b=2]","trial":1,"mix":"y","n":7,"row":3,"items":2,"class":"ok","status":200,"due":0.000000005,"free":0.000000005,"send_start":0.00000001,"send_end":0.000000012,"first_byte":1.00000002,"last_byte":1.5,"bytes_sent":100,"bytes_received":50,"responses":2,"response_times":[1.00000002,1.5],"input_tokens":7,"output_tokens":0,"flags":["warmup","reused"]}
{"node":"s[a=1,b=2]","trial":1,"mix":"x","n":0,"row":0,"items":0,"sequence_id":9223372036854775808,"class":"dial","status":0,"due":0.00000002,"bytes_sent":0,"bytes_received":0,"responses":0,"note":"no \"route\", to host` + "\ufffd" + `"}
`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for line := range strings.Lines(got["samples.jsonl"]) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// The events of a request that came in parts are one line; what a request before it left behind in
// the slot is not in it.
func TestSamplesOfParts(t *testing.T) {
	events := func(at ...int64) (list []backends.Event) {
		for _, a := range at {
			list = append(list, backends.Event{At: a})
		}
		return list
	}
	got := kept(t, SamplesOptions{Table: "csv"}, Trial{Node: "s"}, nil,
		// its request never ended
		backends.Sample{Lane: 2, Gen: 1, Flags: backends.Partial, Events: events(1, 2)},
		backends.Sample{Lane: 2, Gen: 2, Flags: backends.Partial, Events: events(3, 4)},
		backends.Sample{Lane: 3, Gen: 2, Flags: backends.Partial, Events: events(7)},
		backends.Sample{Lane: 2, Gen: 2, Flags: backends.Partial, Events: events(5)},
		backends.Sample{Lane: 2, Gen: 2, Events: events(6), Responses: 4},
		backends.Sample{Lane: 2, Gen: 3, Events: events(9), Responses: 1},
	)
	_, lines, _ := strings.Cut(got["samples.csv"], "\n")
	if !strings.Contains(lines, ",4,3 4 5 6,") || !strings.Contains(lines, ",1,9,") ||
		strings.Count(lines, "\n") != 2 {
		t.Errorf("%s", lines)
	}
}

// A disk that does not keep up costs samples, which are counted, and nobody's time.
func TestSamplesAreBounded(t *testing.T) {
	s := &Samples{
		dir: t.TempDir(), o: SamplesOptions{Table: "csv"},
		full: make(chan delivery, blocks+ends), free: make(chan *block, blocks), ended: make(chan struct{}),
	}
	for range blocks {
		s.free <- nil
	}
	k := s.Trial(Trial{Node: "s"})
	const over = 5
	x := backends.Sample{Due: 1, Events: make([]backends.Event, 3)}
	for range blocks*blockSamples + over { // nobody writes yet
		if err := k.Write(&x); err != nil {
			t.Fatal(err)
		}
	}
	go s.write()
	if err := k.Close(nil); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprint(over, " of its requests are missing")) {
		t.Errorf("closed: %v", err)
	}
	files := finished(t, s, s.dir)
	if n := strings.Count(files["samples.csv"], "\n"); n != 1+blocks*blockSamples {
		t.Errorf("%d lines", n)
	}
}

// A folder that cannot be written to is told of once, with nothing left to wait for.
func TestSamplesCannotBeWritten(t *testing.T) {
	s := NewSamples(filepath.Join(t.TempDir(), "gone"), SamplesOptions{Table: "csv", Export: true})
	k := s.Trial(Trial{})
	_ = k.Write(&backends.Sample{})
	if err := k.Close(nil); err == nil {
		t.Error("no error")
	}
	s.Close()
}

// A disk that is full loses the requests of the run, and not the room that the result needs: what
// was kept is gone at once.
func TestSamplesOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := NewSamples(dir, SamplesOptions{Table: "jsonl", Export: true})
	first, second := s.Trial(Trial{Node: "a"}), s.Trial(Trial{Node: "b"})
	one := &backends.Sample{Responses: 1}
	_ = first.Write(one)
	if err := first.Close(nil); err != nil || len(entries(t, dir)) != 2 {
		t.Fatalf("%v, %q", err, entries(t, dir))
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	s.table.w = bufio.NewWriterSize(full, 16)
	_ = second.Write(one)
	if err := second.Close(nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("closed: %v", err)
	}
	if left := entries(t, dir); len(left) > 0 {
		t.Errorf("%q take room on a disk that is full", left)
	}
	s.Close()
	paths, err := write(dir, &result.Result{Schema: result.Schema},
		Options{Formats: []string{ProfileExport}, Samples: s})
	if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), "no space") != 1 ||
		!slices.Equal(entries(t, dir), []string{"result.json"}) || len(paths) != 1 {
		t.Errorf("wrote %q: %v", paths, err)
	}
}

// The requests give way to the result, where the disk has no room for both.
func TestRequestsGiveWay(t *testing.T) {
	for _, c := range []struct {
		err  error
		gone bool
	}{{nil, false}, {syscall.EACCES, false}, {syscall.ENOSPC, true}, {syscall.EDQUOT, true}} {
		dir := t.TempDir()
		s := NewSamples(dir, SamplesOptions{Table: "csv"})
		k := s.Trial(Trial{})
		_ = k.Write(&backends.Sample{})
		if err := k.Close(nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
		err := s.makeRoom(func() error {
			if c.gone && len(entries(t, dir)) == 0 {
				return nil
			}
			return c.err
		})
		if gone := len(entries(t, dir)) == 0; gone != c.gone || !c.gone && !errors.Is(err, c.err) ||
			c.gone && (err != nil || !errors.Is(s.err, c.err)) {
			t.Errorf("%v: %v, %v, gone %t", c.err, err, s.err, gone)
		}
		if err := s.discard(); err != nil {
			t.Error(err)
		}
	}
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func tensorOf(name string, kind tensor.DataType, data ...byte) backends.Tensor {
	return backends.Tensor{Name: name, Type: kind, Data: data}
}

func text(list ...string) (data []byte) {
	for _, s := range list {
		data = append(binary.LittleEndian.AppendUint32(data, uint32(len(s))), s...)
	}
	return data
}

// The shape of the file, with the values of perf_analyzer's own test of it: one request with two
// replies.
func TestProfileExport(t *testing.T) {
	inputs := []backends.Tensor{
		tensorOf("in_bytes", tensor.Bytes, text("abc123")...),
		tensorOf("in_int32", tensor.Int32, 0xc8, 1, 0, 0), tensorOf("in_bool", tensor.Bool, 1),
	}
	outputs := map[string][]backends.Tensor{
		"a":  {tensorOf("out", tensor.Int32, 3, 0, 0, 0)},
		"bb": {tensorOf("out", tensor.Int32, 4, 0, 0, 0), tensorOf("pair", tensor.Uint8, 1, 2)},
	}
	trial := Trial{
		Node: "s", Closed: true, Value: 10, Started: time.Unix(0, 1000),
		Sent: func(_ uint16, row uint32) []backends.Tensor { return inputs[:row] },
		Received: func(_ uint16, reply []byte) ([]backends.Tensor, error) {
			return outputs[string(reply)], nil
		},
	}
	ok := backends.Sample{
		Due: 1, SendStart: 1, LastByte: 3, Row: 3, Responses: 2, Sequence: 1,
		Events: []backends.Event{{At: 2}, {At: 3}},
	}
	ok.AddText([]byte("a"))
	ok.AddText([]byte("b"), []byte("b"))
	unary := backends.Sample{Due: 4, SendStart: 4, LastByte: 5, Row: 0, Responses: 1}
	unary.AddText([]byte("a"))
	silent := backends.Sample{Due: 5, SendStart: 5, LastByte: 6, Row: 1}
	warm, failed, after := unary, unary, unary
	warm.Flags, failed.Class, after.Due = backends.Warmup, backends.TimedOut, 7
	got := kept(t, SamplesOptions{Export: true}, trial, []int64{1, 5, 6}, warm, ok, failed, unary,
		silent, after)
	want := map[string]string{"profile_export.json": `{"experiments":[{"experiment":{"mode":"concurrency","value":10},"requests":[` +
		`{"timestamp":1001,"sequence_id":1,"request_inputs":{"in_bytes":"abc123","in_int32":456,"in_bool":true},"response_timestamps":[1002,1003],"response_outputs":[{"out":3},{"out":4,"pair":[1,2]}]},` +
		`{"timestamp":1004,"request_inputs":{},"response_timestamps":[1005],"response_outputs":[{"out":3}]},` +
		`{"timestamp":1005,"request_inputs":{"in_bytes":"abc123"},"response_timestamps":[],"response_outputs":[]}` +
		`],"window_boundaries":[1001,1005,1006]}],"version":"1.2.3","service_kind":"triton","endpoint":""}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Trials of equal load share an experiment; a window that begins where the one before ended has one
// boundary there.
func TestProfileExportWindows(t *testing.T) {
	dir := t.TempDir()
	s := NewSamples(dir, SamplesOptions{Export: true})
	for _, x := range []struct {
		closed bool
		value  float64
		bounds []int64
	}{
		{false, 23.5, []int64{123, 456}},
		{true, 1, []int64{1, 2}},
		{false, 23.5, []int64{678, 912}},
		{false, 20, []int64{1, 2}},
	} {
		k := s.Trial(Trial{Closed: x.closed, Value: x.value, Started: time.Unix(0, 0)})
		_ = k.Write(&backends.Sample{
			Due: x.bounds[0], SendStart: x.bounds[0], LastByte: x.bounds[1],
			Responses: 1,
		})
		if err := k.Close(x.bounds); err != nil {
			t.Fatal(err)
		}
	}
	got := finished(t, s, dir)["profile_export.json"]
	for _, want := range []string{
		`{"mode":"request_rate","value":23.5},"requests":[{"timestamp":123,`,
		`"window_boundaries":[123,456,678,912]}`,
		`{"mode":"request_rate","value":20.0}`, `{"mode":"concurrency","value":1}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	if n := strings.Count(got, `"experiment":`); n != 3 {
		t.Errorf("%d experiments", n)
	}
}

// The window of a load that grows is the time that it took, and loads of other settings are
// experiments of their own, whatever was in flight: perf_analyzer writes 1, and a window without an
// end.
func TestProfileExportOfAGrowingLoad(t *testing.T) {
	dir := t.TempDir()
	s := NewSamples(dir, SamplesOptions{Export: true})
	k := s.Trial(Trial{Node: "s", Closed: true, Value: 6, Started: time.Unix(0, 0)})
	_ = k.Write(&backends.Sample{Due: 1, SendStart: 1, LastByte: 2, Responses: 1})
	if err := k.Close([]int64{1, 9}); err != nil {
		t.Fatal(err)
	}
	other := s.Trial(Trial{Node: "t", Closed: true, Value: 3, Started: time.Unix(0, 0)})
	_ = other.Write(&backends.Sample{Due: 1, SendStart: 1, LastByte: 2, Responses: 1})
	if err := other.Close([]int64{1, 9}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	n := measure(&result.Node{ID: "s", Outcome: result.Done, Load: result.Load{Kind: "concurrency"}}, 1,
		map[string]float64{"in_flight.max": 5})
	if _, err := write(dir, &result.Result{Schema: result.Schema, Nodes: []*result.Node{n}},
		Options{Formats: []string{ProfileExport}, Samples: s}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "profile_export.json"))
	if one, other := `{"mode":"concurrency","value":6}`, `{"mode":"concurrency","value":3}`; err != nil ||
		!strings.Contains(string(got), one) || !strings.Contains(string(got), other) ||
		!strings.Contains(string(got), `"window_boundaries":[1,9]`) {
		t.Errorf("%s (%v)", got, err)
	}
}

// Every datatype: one element is a scalar, several are a list, none is an empty text; what JSON has
// no number for is null.
func TestProfileExportValues(t *testing.T) {
	float := func(v ...float32) (data []byte) {
		for _, f := range v {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
		}
		return data
	}
	for _, tt := range []struct {
		kind tensor.DataType
		data []byte
		want string
	}{
		{tensor.Bool, []byte{1, 0, 1}, "[true,false,true]"},
		{tensor.Uint8, []byte{1, 2, 255}, "[1,2,255]"},
		{tensor.Uint16, []byte{4, 0, 255, 255}, "[4,65535]"},
		{tensor.Uint32, []byte{1, 2, 0, 0}, "513"},
		{tensor.Uint64, slices.Repeat([]byte{255}, 8), "18446744073709551615"},
		{tensor.Int8, []byte{1, 254, 3}, "[1,-2,3]"},
		{tensor.Int16, []byte{4, 0, 251, 255}, "[4,-5]"},
		{tensor.Int32, []byte{7, 0, 0, 0, 248, 255, 255, 255}, "[7,-8]"},
		{tensor.Int64, slices.Repeat([]byte{255}, 8), "-1"},
		{tensor.FP16, []byte{0, 0x3e}, "1.5"},
		{tensor.BF16, []byte{0xc0, 0x3f, 0, 0}, "[1.5,0]"},
		{tensor.FP32, float(1.5, float32(math.NaN()), float32(math.Inf(-1))), "[1.5,null,null]"},
		{tensor.FP64, make([]byte, 8), "0"},
		{tensor.Bytes, text("abc123"), `"abc123"`},
		{tensor.Bytes, text("a", "", `b"`+"\xff"), `["a","","b\"` + "\ufffd" + `"]`},
		{tensor.Bytes, nil, `""`},
		{tensor.Int32, nil, `""`},
		{tensor.Int32, []byte{1, 0, 0, 0, 9}, "1"}, // a rest that is no element
	} {
		got := (&trialExport{of: &Samples{}}).appendTensor(nil,
			&backends.Tensor{Type: tt.kind, Data: tt.data})
		if string(got) != tt.want || !json.Valid(got) {
			t.Errorf("%s %v: %s, want %s", tt.kind, tt.data, got, tt.want)
		}
	}
}
