package observe

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
)

// page is what a Triton with two GPUs and summaries may say, with a family that has no type and one
// without a value yet.
const page = `# HELP nv_gpu_utilization GPU utilization rate [0.0 - 1.0)
# TYPE nv_gpu_utilization gauge
nv_gpu_utilization{gpu_uuid="GPU-0"} 0.41
nv_gpu_utilization{gpu_uuid="GPU-1"} 0.77
# TYPE nv_gpu_power_usage gauge
nv_gpu_power_usage{gpu_uuid="GPU-0"} 81.619
nv_gpu_power_usage{gpu_uuid="GPU-1"} 99.217
# HELP nv_gpu_memory_used_bytes GPU used memory, in bytes
# TYPE nv_gpu_memory_used_bytes gauge
nv_gpu_memory_used_bytes{gpu_uuid="GPU-0"} 50000000
nv_gpu_memory_used_bytes{gpu_uuid="GPU-1"} 75000000
# TYPE nv_gpu_memory_total_bytes gauge
nv_gpu_memory_total_bytes{gpu_uuid="GPU-0"} 1000000000
nv_gpu_memory_total_bytes{gpu_uuid="GPU-1"} 2000000000
# TYPE nv_inference_count counter
nv_inference_count{model="m",version="1"} 1.5e+03
# TYPE nv_inference_request_summary_us summary
nv_inference_request_summary_us{model="m",quantile="0.5"} Nan
nv_inference_request_summary_us_sum{model="m"} 10
nv_inference_request_summary_us_count{model="m"} 2
# TYPE lat histogram
lat_bucket{le="0.1"} 3
lat_bucket{le="+Inf"} 4
lat_sum 0.5
lat_count 4
plain 7
vllm:gpu_cache_usage_perc{model_name="a b\"c"} 0.5
`

func lines(list []Sample) (text []string) {
	for _, s := range list {
		text = append(text, fmt.Sprintf("%s %s %v", s.Series.Type, s.Series, s.V))
	}
	return text
}

func TestScrape(t *testing.T) {
	for _, c := range []struct {
		match []string
		want  []string
	}{
		{[]string{"nv_gpu_*"}, []string{
			`gauge nv_gpu_memory_total_bytes{gpu_uuid="GPU-0"} 1e+09`,
			`gauge nv_gpu_memory_total_bytes{gpu_uuid="GPU-1"} 2e+09`,
			`gauge nv_gpu_memory_used_bytes{gpu_uuid="GPU-0"} 5e+07`,
			`gauge nv_gpu_memory_used_bytes{gpu_uuid="GPU-1"} 7.5e+07`,
			`gauge nv_gpu_power_usage{gpu_uuid="GPU-0"} 81.619`,
			`gauge nv_gpu_power_usage{gpu_uuid="GPU-1"} 99.217`,
			`gauge nv_gpu_utilization{gpu_uuid="GPU-0"} 0.41`,
			`gauge nv_gpu_utilization{gpu_uuid="GPU-1"} 0.77`,
		}},
		{[]string{"plain", "nv_inference*"}, []string{
			`counter nv_inference_count{model="m",version="1"} 1500`,
			`summary nv_inference_request_summary_us_count{model="m"} 2`,
			`summary nv_inference_request_summary_us_sum{model="m"} 10`,
			`summary nv_inference_request_summary_us{model="m",quantile="0.5"} NaN`, `untyped plain 7`,
		}},
		{[]string{"lat*"}, []string{
			`histogram lat_bucket{le="+Inf"} 4`,
			`histogram lat_bucket{le="0.1"} 3`, `histogram lat_count 4`, `histogram lat_sum 0.5`,
		}},
		{[]string{"vllm:*"}, []string{`gauge`}},
		{[]string{"nothing", "plai?", "[p]lain", `plain\`}, nil},
	} {
		got, err := parse(strings.NewReader(page), Kept{Match: c.match})
		if err != nil {
			t.Fatal(err)
		}
		if c.match[0] == "vllm:*" {
			c.want = []string{`untyped vllm:gpu_cache_usage_perc{model_name="a b\"c"} 0.5`}
		}
		if diff := cmp.Diff(c.want, lines(got)); diff != "" {
			t.Errorf("%v: %s", c.match, diff)
		}
	}
}

func TestScrapeErrors(t *testing.T) {
	status, body := 200, "a{b=\"c\" 1\nplain 7\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	for _, want := range []string{"text format", "status 404", "over 16 MiB"} {
		switch want {
		case "status 404":
			status = 404
		case "over 16 MiB":
			status, body = 200, strings.Repeat("# nothing\n", maxScrape/10+1)
		}
		if got, err := Scrape(t.Context(), server.Client(), server.URL, nil, Kept{Match: []string{"*"}}); err == nil ||
			got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d samples, error %v, want %q", len(got), err, want)
		}
	}
}

// TestScrapeKeepsHeaders: headers, which may be keys, do not follow a redirect.
func TestScrapeKeepsHeaders(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server was asked, with key %q", r.Header.Get("X-Api-Key"))
	}))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(server.Close)
	_, err := Scrape(t.Context(), server.Client(), server.URL, []backends.Header{{Name: "x-api-key", Value: "k"}},
		Kept{Match: []string{"*"}})
	if err == nil || !strings.Contains(err.Error(), "status 302") {
		t.Errorf("%v", err)
	}
}

func FuzzScrape(f *testing.F) {
	f.Add([]byte(page))
	f.Add([]byte("a NaN\n# TYPE a summary\n"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = parse(strings.NewReader(string(b)), Kept{Match: []string{"*"}}) })
}

// TestScrapeHidesKeys: an error names the endpoint without its user and query.
func TestScrapeHidesKeys(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	at := strings.Replace(server.URL, "://", "://user:hidden@", 1) + "/metrics?token=hidden"
	for range 2 { // answered with an error, and not reached
		_, err := Scrape(t.Context(), http.DefaultClient, at, nil, Kept{Match: []string{"*"}})
		if err == nil || strings.Contains(err.Error(), "hidden") || !strings.Contains(err.Error(), "/metrics") {
			t.Errorf("%v", err)
		}
		server.Close()
	}
}
