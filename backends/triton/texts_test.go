package triton

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
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
		{"another name", []string{`{"id":"7","answer":"a\nb","stop_reason":"length"}`}, []string{"a\nb", "length"}},
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
