package triton

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// TestTexts: the texts of replies are those of text_output, joined over the replies of a stream; what cannot be
// read, or was too long to be kept, is not counted.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies []string
		want    []string
	}{
		{"one reply", []string{`{"model_name":"m","text_output":"One two","cum_log_probs":0.5}`}, []string{"One two"}},
		{
			"a stream",
			[]string{`{"text_output":"One"}`, `{"text_output":" two"}`, `{"text_output":""}`},
			[]string{"One two"},
		},
		{"another name", []string{`{"id":"7","answer":"a\nb","score":1}`}, []string{"a\nb"}},
		{"several outputs of strings", []string{`{"answer":"a b","stop_reason":"length"}`}, nil},
		{
			"text_output beside others",
			[]string{`{"log":"x","text_output":["a","b"]}`, `{"text_output":["c","d"]}`},
			[]string{"ac", "bd"},
		},
		{"no text", []string{`{"score":1}`}, nil},
		{"no JSON", []string{`{"text_output":"a"}`, `{"text_output`}, nil},
		{"too long", []string{`{"text_output":"a"}`, ""}, nil},
	} {
		x, err := open(context.Background(), backends.Target{
			URL: "http://localhost:1", Model: "m", Endpoint: generate, Tokenizer: "tokenizer.json",
		}, backends.Clock{Origin: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		s := &backends.Sample{}
		for _, r := range c.replies {
			s.AddText([]byte(r))
		}
		got, ok := x.(backends.Texter).Texts(s)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != nil) {
			t.Errorf("%s: %t (-want +got):\n%s", c.name, ok, diff)
		}
	}
}

// TestGenerateTakesText: a row of text becomes the members of a request that the model's backend takes, beside
// parameters.
func TestGenerateTakesText(t *testing.T) {
	port := func(name string, typ tensor.DataType) backends.Port {
		return backends.Port{Name: name, Type: typ, Shape: []int64{1}}
	}
	text := port("text_input", tensor.Bytes)
	for want, inputs := range map[string][]backends.Port{
		`"text_input":"a b","max_tokens":9,"parameters":{"seed":7}}`: {text, port("max_tokens", tensor.Int32)},
		`"text_input":"a b","stream":false,"sampling_parameters":"{\"max_tokens\":\"9\"}","parameters":{"seed":7}}`: {
			text, port("stream", tensor.Bool), port("sampling_parameters", tensor.Bytes),
		},
	} {
		x, err := open(context.Background(), backends.Target{
			URL: "http://localhost:1", Model: "m", Endpoint: generate,
			Parameters: []backends.Parameter{{Name: "seed", Value: int64(7)}},
		}, backends.Clock{Origin: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		row := []backends.Member{{Name: "prompt", Value: []byte(`"a b"`)}, {Name: "output_tokens", Value: []byte("9")}}
		call, err := x.Prepare(backends.Request{
			Rows: [][]backends.Member{row}, Signature: &backends.Signature{Model: "m", Inputs: inputs},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(call.Head), "\r\n\r\n")
		if !strings.HasSuffix(body, ","+want) {
			t.Errorf("got  %s\nwant …,%s", body, want)
		}
	}
}
