package all

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// language are the keys of a target in the plan language. Those that the executor reads itself are
// no kind's.
var language = strings.Fields("model model_version signature endpoint path method protos inprocess " +
	"composing_models headers parameters " +
	"compression tls timeout connect_timeout inactivity_timeout connections max_message tensors streaming " +
	"tokenizer ready management statistics trace log")

func TestKinds(t *testing.T) {
	var names []string
	read := map[string]bool{}
	for _, k := range Kinds() {
		names = append(names, k.Name)
		if k.Help == "" || strings.HasSuffix(k.Help, ".") || k.Abilities == nil ||
			!k.Abilities(backends.Target{}).Has(backends.Unary) {
			t.Errorf("kind %s is not complete", k.Name)
		}
		for i, key := range k.Keys {
			read[key] = true
			if !slices.Contains(language, key) || slices.Contains(k.Keys[:i], key) {
				t.Errorf("%s: key %q is not in the language, or stands twice", k.Name, key)
			}
		}
		if reads := slices.Contains(k.Keys, "endpoint"); reads != (k.Endpoints != nil) {
			t.Errorf("%s: reads endpoint: %v, endpoints %v", k.Name, reads, k.Endpoints)
		}
		if stats := k.Abilities(backends.Target{}).Has(backends.ServerStats); stats != slices.Contains(k.Keys,
			"statistics") || k.Open != nil && stats != (len(k.Series) > 0) {
			t.Errorf("%s: statistics %v with %d series, keys %v", k.Name, stats, len(k.Series), k.Keys)
		}
		if streams := k.Abilities(backends.Target{
			URL: "grpc://h", Streaming: true, Endpoint: first(k),
		}).Has(backends.Stream); streams != slices.Contains(k.Keys, "streaming") {
			t.Errorf("%s: streams %v, keys %v", k.Name, streams, k.Keys)
		}
		if k.Abilities(backends.Target{Streaming: false}).Names() != nil &&
			k.Abilities(backends.Target{Endpoint: first(k)})&(backends.Stream|backends.TokenEvents) != 0 {
			t.Errorf("%s streams without `streaming`", k.Name)
		}
	}
	want := strings.Fields("kserve triton triton_inprocess openai torchserve grpc tfserving http")
	if !slices.Equal(names, want) {
		t.Errorf("kinds %v, want %v", names, want)
	}
	for _, key := range language {
		if !read[key] {
			t.Errorf("no kind reads %q", key)
		}
	}
}

func first(k backends.Kind) string {
	if k.Endpoints == nil {
		return ""
	}
	return k.Endpoints[0]
}

func kind(t *testing.T, name string) backends.Kind {
	t.Helper()
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("there is no kind %s", name)
	return backends.Kind{}
}

// TestAbilities lists the abilities of each kind for a target, as diagnostics name them. A binary built without an ability lists it all the same.
func TestAbilities(t *testing.T) {
	for _, row := range []struct {
		kind, url, endpoint string
		streaming           bool
		tokenizer           string
		want                string
	}{
		{
			kind: "kserve", url: "http://h",
			want: "unary, metadata, tensors, expected outputs, request bodies, sequences, classification",
		},
		{
			kind: "kserve", url: "grpc://h",
			want: "unary, metadata, tensors, expected outputs, request bodies, sequences, classification",
		},
		{
			kind: "kserve", url: "http://h", endpoint: "predict",
			want: "unary, expected outputs, request bodies",
		},
		{
			kind: "triton", url: "grpc://h", endpoint: "infer",
			want: "unary, metadata, server statistics, tensors, expected outputs, request bodies, sequences, " +
				"system shared memory, cuda shared memory, trace settings, model control, model configurations, composing models, " +
				"classification",
		},
		{
			kind: "triton", url: "grpc://h", endpoint: "infer", streaming: true,
			want: "unary, metadata, server statistics, tensors, expected outputs, streaming, bidirectional " +
				"stream, request bodies, sequences, system shared memory, cuda shared memory, trace settings, model " +
				"control, model configurations, composing models, classification",
		},
		{
			kind: "triton", url: "http://h", endpoint: "generate", streaming: true,
			want: "unary, metadata, server statistics, tensors, expected outputs, streaming, token events, token counts, " +
				"prompts, request bodies, trace settings, model control, model configurations, composing models",
		},
		{
			kind: "triton", url: "http://h", endpoint: "generate", tokenizer: "t.json",
			want: "unary, metadata, server statistics, tensors, expected outputs, token counts, prompts, request bodies, " +
				"trace settings, model control, model configurations, composing models",
		},
		{
			kind: "triton", url: "grpc://h", endpoint: "vllm", streaming: true, tokenizer: "t.json",
			want: "unary, metadata, server statistics, streaming, bidirectional stream, token events, token counts, " +
				"prompts, request bodies, trace settings, model control, model configurations, composing models",
		},
		{
			kind: "triton_inprocess", streaming: true,
			want: "unary, metadata, server statistics, tensors, expected outputs, streaming, sequences, model " +
				"control, composing models, server in this process",
		},
		{
			kind: "tfserving", url: "grpc://h", want: "unary, metadata, tensors, expected outputs",
		},
		{
			kind: "tfserving", url: "http://h", endpoint: "classify",
			want: "unary, metadata, expected outputs, request bodies",
		},
		{
			kind: "torchserve", url: "grpc://h", streaming: true,
			want: "unary, expected outputs, streaming, request bodies",
		},
		{kind: "torchserve", url: "http://h", want: "unary, expected outputs, request bodies, counters"},
		{
			kind: "torchserve", url: "http://h", streaming: true,
			want: "unary, expected outputs, streaming, request bodies, counters",
		},
		{
			kind: "openai", url: "http://h", endpoint: "chat",
			want: "unary, metadata, expected outputs, token counts, prompts, chat, request bodies",
		},
		{
			kind: "openai", url: "http://h", endpoint: "chat", streaming: true,
			want: "unary, metadata, expected outputs, streaming, token events, token counts, prompts, chat, " +
				"request bodies",
		},
		{
			kind: "openai", url: "http://h", endpoint: "completions", streaming: true,
			want: "unary, metadata, expected outputs, streaming, token events, token counts, prompts, request bodies",
		},
		{
			kind: "openai", url: "http://h", endpoint: "embeddings",
			want: "unary, metadata, expected outputs, token counts, prompts, request bodies",
		},
		{kind: "grpc", url: "grpc://h", want: "unary, expected outputs, request bodies, counters"},
		{
			kind: "grpc", url: "grpc://h", streaming: true,
			want: "unary, expected outputs, streaming, request bodies, counters",
		},
		{
			kind: "http", url: "http://h", streaming: true,
			want: "unary, expected outputs, streaming, request bodies, counters",
		},
	} {
		k := kind(t, row.kind)
		a := k.Abilities(backends.Target{
			URL: row.url, Endpoint: row.endpoint, Streaming: row.streaming, Tokenizer: row.tokenizer,
		})
		words := a.Names()
		if got := strings.Join(words, ", "); got != row.want {
			t.Errorf("%s %s %s streaming %v:\n got %s\nwant %s",
				row.kind, row.url, row.endpoint, row.streaming, got, row.want)
		}
	}
}

// TestCheck is what a kind refuses before anything is sent; "" it takes.
func TestCheck(t *testing.T) {
	for _, row := range []struct {
		kind   string
		target backends.Target
		want   string
	}{
		{"kserve", backends.Target{URL: "http://h:1", Endpoint: "predict"}, ""},
		{"kserve", backends.Target{URL: "grpc://h:1", Endpoint: "predict"}, "endpoint predict is HTTP"},
		{
			"kserve",
			backends.Target{URL: "http://h:1", Endpoint: "predict", ModelVersion: "1"},
			"no versions of models",
		},
		{"triton", backends.Target{URL: "grpc://h:1", Endpoint: "generate"}, "endpoint generate is HTTP"},
		{"triton", backends.Target{URL: "http://h:1", Endpoint: "generate", Streaming: true}, ""},
		{
			"triton",
			backends.Target{URL: "http://h:1", Endpoint: "generate", Compression: "gzip"},
			"takes no compressed requests",
		},
		{
			"triton",
			backends.Target{URL: "http://h:1", Endpoint: "infer", Streaming: true},
			"`streaming` needs grpc://",
		},
		{"triton", backends.Target{URL: "grpc://h:1", Endpoint: "infer", Streaming: true}, ""},
		{
			"openai",
			backends.Target{URL: "http://h", Endpoint: "embeddings", Streaming: true},
			"endpoint embeddings does not stream",
		},
		{"openai", backends.Target{URL: "http://h", Endpoint: "messages", Streaming: true}, ""},
		{"grpc", backends.Target{URL: "grpc://h:1"}, "needs `method`"},
		{"grpc", backends.Target{URL: "grpc://h:1", Method: "acme.Search/Query"}, ""},
		{"grpc", backends.Target{URL: "grpc://h:1", Method: "/acme.Search/Query"}, ""},
		{"grpc", backends.Target{URL: "grpc://h:1", Method: "Query"}, "must have the form package.Service/Method"},
		{"grpc", backends.Target{URL: "grpc://h:1", Method: "a/b/c"}, "must have the form package.Service/Method"},
		{"http", backends.Target{URL: "http://h"}, ""},
		{"http", backends.Target{URL: "http://h", Method: "PATCH"}, ""},
		{"http", backends.Target{URL: "http://h", Method: "get it"}, "is not an HTTP method"},
	} {
		err := kind(t, row.kind).Check(row.target)
		if got := err != nil; got != (row.want != "") || got && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s %+v: %v, want %q", row.kind, row.target, err, row.want)
		}
	}
}

// TestSchemes: every scheme is one of the language.
func TestSchemes(t *testing.T) {
	for _, k := range Kinds() {
		for _, s := range k.Schemes {
			u, err := url.Parse(s + "://h")
			if err != nil || u.Scheme != s ||
				!slices.Contains(strings.Fields("http https grpc grpcs http+unix grpc+unix"), s) {
				t.Errorf("%s: scheme %s (%v)", k.Name, s, err)
			}
		}
	}
}
