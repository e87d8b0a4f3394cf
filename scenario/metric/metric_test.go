package metric

import (
	"slices"
	"strings"
	"testing"
)

func catalogue(t *testing.T, extra ...Row) *Catalogue {
	t.Helper()
	c, err := New(extra...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRows checks what help, docs, files and comparisons derive from every row.
func TestRows(t *testing.T) {
	columns, aliases := map[string]string{}, map[string]string{}
	for _, r := range catalogue(t, stageRows()...).Rows() {
		if r.Dim == 0 || r.From == 0 {
			t.Errorf("%s: no dimension or origin", r.Name)
		}
		empty := strings.HasSuffix(r.Help, ": .")
		if empty || !strings.HasSuffix(r.Help, ".") || strings.Contains(r.Help, "::") {
			t.Errorf("%s: help %q is no sentence", r.Name, r.Help)
		}
		good := r.Name == GoodputRatio || r.Name == "gpu.utilization"
		if r.Dim == Ratio && !good && r.Better != Lower {
			t.Errorf("%s: a ratio of bad things has a direction", r.Name)
		}
		for _, a := range r.Aliases {
			if a == r.Name || aliases[strings.ToLower(a)] != "" {
				t.Errorf("%s: alias %q is its name, or %s has it too", r.Name, a, aliases[strings.ToLower(a)])
			}
			aliases[strings.ToLower(a)] = r.Name
		}
		if r.Name != strings.ToLower(r.Name) || strings.ContainsAny(r.Name, " -") {
			t.Errorf("%s: a name is lower-case words, dots and underscores", r.Name)
		}
		if h := r.Header(Stat{}); h != "" {
			if columns[h] != "" {
				t.Errorf("%s and %s share column %s", r.Name, columns[h], h)
			}
			columns[h] = r.Name
		}
	}
}

// TestErrorClasses checks that every class has a count and a ratio with help of its own.
func TestErrorClasses(t *testing.T) {
	c := catalogue(t)
	helps := map[string]bool{}
	for _, class := range ErrorClasses() {
		for _, name := range []string{"errors." + class + ".count", "errors." + class + ".ratio"} {
			l, ok := c.Leaf(name)
			if !ok || l.Row.From != Counts || helps[l.Row.Help] {
				t.Errorf("%s: %+v, %v", name, l, ok)
			}
			helps[l.Row.Help] = true
		}
	}
	if got := len(ErrorClasses()); got != 12 {
		t.Errorf("%d classes, want 12", got)
	}
}

func TestLeaf(t *testing.T) {
	c := catalogue(t, SeriesRow("queue", "h.", "ns", true), SeriesRow("executions", "h.", "1", false))
	for _, row := range []struct {
		path, want string // want "": no leaf
		dim        Dim
		unit       string
	}{
		{"latency.p50", "latency.p50", Duration, "s"},
		{"latency.p99.9", "latency.p99.9", Duration, "s"},
		{"latency.p(99.9)", "latency.p99.9", Duration, "s"},
		{"latency.p( 99.90 )", "latency.p99.9", Duration, "s"},
		{"latency.p100", "latency.p100", Duration, "s"},
		{"latency.p0.1", "latency.p0.1", Duration, "s"},
		{"latency.mean", "latency.mean", Duration, "s"},
		{"latency.min", "latency.min", Duration, "s"},
		{"latency.max", "latency.max", Duration, "s"},
		{"latency.std", "latency.std", Duration, "s"},
		{"latency.count", "latency.count", Count, "1"},
		{"send_delay.p99", "send_delay.p99", Duration, "s"},
		{"send_delay.client.p99", "send_delay.client.p99", Duration, "s"},
		{"throughput", "throughput", Rate, "1/s"},
		{"errors.ratio", "errors.ratio", Ratio, "ratio"},
		{"errors.timeout.ratio", "errors.timeout.ratio", Ratio, "ratio"},
		{"client.memory", "client.memory", Bytes, "bytes"},
		{"server.queue.mean", "server.queue.mean", Duration, "s"},
		{"server.executions.count", "server.executions.count", Count, "1"},
		{"latency.adjusted.p99", "latency.adjusted.p99", Duration, "s"},
		{"ttft.adjusted.p(99.9)", "ttft.adjusted.p99.9", Duration, "s"},
		{"service_time.adjusted.p50", "service_time.adjusted.p50", Duration, "s"},
		{"latency.adjusted", "", 0, ""},
		{"latency.adjusted.mean", "", 0, ""},
		{"latency.adjusted.adjusted.p9", "", 0, ""},
		{"latency.p99.adjusted", "", 0, ""},
		{"send_delay.adjusted.p99", "", 0, ""},
		{"itl.adjusted.p99", "", 0, ""},
		{"responses.adjusted.p99", "", 0, ""},
		{"latency", "", 0, ""},
		{"send_delay.client", "", 0, ""},
		{"errors", "", 0, ""},
		{"", "", 0, ""},
		{"latency.p", "", 0, ""},
		{"latency.p0", "", 0, ""},
		{"latency.p101", "", 0, ""},
		{"latency.p-1", "", 0, ""},
		{"latency.p(-1)", "", 0, ""},
		{"latency.p(NaN)", "", 0, ""},
		{"latency.p(Inf)", "", 0, ""},
		{"latency.p(1e1)", "", 0, ""},
		{"latency.p(0x10)", "", 0, ""},
		{"latency.p(99", "", 0, ""},
		{"latency.p99.", "", 0, ""},
		{"latency.p99.p50", "", 0, ""},
		{"latency.p1_0", "", 0, ""},
		{"latency.p(100.0001)", "", 0, ""},
		{"latency.p99.9.9", "", 0, ""},
		{"throughput.p99", "", 0, ""},
		{"errors.ratio.mean", "", 0, ""},
		{"latency.avg", "", 0, ""},
		{".p99", "", 0, ""},
	} {
		l, ok := c.Leaf(row.path)
		if ok != (row.want != "") {
			t.Errorf("Leaf(%q) = %v", row.path, ok)
			continue
		}
		if ok && (l.String() != row.want || l.Dim() != row.dim || l.Dim().Unit() != row.unit) {
			t.Errorf("Leaf(%q) = %s in %s (%s)", row.path, l, l.Dim(), l.Dim().Unit())
		}
	}
}

// TestNames checks that every name is a leaf that spells itself so, once.
func TestNames(t *testing.T) {
	c := catalogue(t)
	var names []string
	for _, r := range c.Rows() {
		names = append(names, r.Leaves()...)
	}
	seen := map[string]bool{}
	for _, n := range names {
		l, ok := c.Leaf(n)
		if !ok || l.String() != n || seen[n] {
			t.Errorf("%s: leaf %v, spelled %s, seen %v", n, ok, l, seen[n])
		}
		seen[n] = true
	}
	for _, n := range []string{"latency.p99.9", "latency.count", "throughput", "errors.status.count"} {
		if !slices.Contains(names, n) {
			t.Errorf("%s is not offered", n)
		}
	}
}

// TestNew refuses catalogues in which a path could mean two things.
func TestNew(t *testing.T) {
	value := func(name string) Row {
		return Row{Name: name, Dim: Count, From: Series, Help: "h."}
	}
	for _, row := range []struct {
		extra []Row
		want  string
	}{
		{[]Row{value("throughput")}, `two metrics are named "throughput"`},
		{[]Row{value("server.x.count"), value("server.x.count")}, `two metrics are named "server.x.count"`},
		{[]Row{value("latency.p99")}, `"latency.p99" is also a statistic of "latency"`},
		{[]Row{value("latency.mean")}, `"latency.mean" is also a statistic of "latency"`},
		{
			[]Row{value("x.p50"), {Name: "x", Dim: Count, From: Sample, Help: "h."}},
			`"x.p50" is also a statistic of "x"`,
		},
		{[]Row{value("")}, "a metric has no name"},
		{[]Row{{Name: "x"}}, `metric "x" has no dimension or origin`},
		{[]Row{value("latency.extra"), value("latency.rate")}, ""},
	} {
		_, err := New(row.extra...)
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%v: %v", row.extra, err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

// TestCatalogueIsItsOwn checks that catalogues share no rows.
func TestCatalogueIsItsOwn(t *testing.T) {
	a, b := catalogue(t), catalogue(t)
	a.Rows()[0].Help = "changed"
	if b.Rows()[0].Help == "changed" || &a.Rows()[0].Name == &b.Rows()[0].Name {
		t.Error("two catalogues share rows")
	}
}

func TestSeriesRow(t *testing.T) {
	for _, row := range []struct {
		name, unit string
		per        bool
		want       string
		dim        Dim
		header     string
	}{
		{"queue", "ns", true, "server.queue.mean", Duration, "server_queue_mean_ms"},
		{"cache.hit", "ns", true, "server.cache.hit.mean", Duration, "server_cache_hit_mean_ms"},
		{"batch", "1", true, "server.batch.mean", Count, "server_batch_mean"},
		{"executions", "1", false, "server.executions.count", Count, "server_executions_count"},
		{"busy", "ns", false, "server.busy.total", Duration, "server_busy_total_ms"},
		{"body", "bytes", true, "server.body.mean", Bytes, "server_body_mean_bytes"},
	} {
		r := SeriesRow(row.name, "h.", row.unit, row.per)
		named := r.Name == row.want && r.Dim == row.dim && r.Header(Stat{}) == row.header
		if !named || r.From != Series || r.Needs == "" || r.IsDistribution() {
			t.Errorf("SeriesRow(%s) = %+v, header %s", row.name, r, r.Header(Stat{}))
		}
	}
}

// TestDesign checks that every metric of the design is in the catalogue, in its dimension.
func TestDesign(t *testing.T) {
	for dim, names := range map[Dim]string{
		Duration: "latency service_time send_delay send_delay.client send_delay.pool connect " +
			"first_response ttft ttft_answer ttst itl chunk_gap tpot response_gap " +
			"client.cpu_per_request server.queue.mean",
		Rate: "throughput requests.rate responses.rate sequences.rate tokens.input.rate " +
			"tokens.output.rate tokens.total.rate bytes.sent.rate bytes.received.rate goodput " +
			"offered.rate tokens.per_user capacity",
		Count: "requests.count errors.count dropped.count late.count reconnects.count " +
			"in_flight.max tokens.input tokens.output",
		Ratio: "errors.ratio errors.timeout.ratio dropped.ratio late.ratio goodput.ratio " +
			"gpu.utilization client.cpu",
		Power: "gpu.power",
		Bytes: "gpu.memory client.memory",
	} {
		c := catalogue(t, stageRows()...)
		for _, name := range strings.Fields(names) {
			if r, ok := c.Row(name); !ok || r.Dim != dim {
				t.Errorf("%s: %+v, want a row of dimension %s", name, r, dim)
			}
		}
	}
}

// stageRows lists the rows that a server, a search and goodput add.
func stageRows() []Row {
	return append(GoodputRows(), CapacityRow(Rate), SeriesRow("queue", "Time in the queue.", "ns", true))
}

// TestCapacity checks that the result of a search has the dimension that was searched.
func TestCapacity(t *testing.T) {
	for dim, header := range map[Dim]string{Rate: "capacity_per_s", Count: "capacity"} {
		r := CapacityRow(dim)
		if r.Dim != dim || r.Header(Stat{}) != header || r.From != Search || r.Better != Higher {
			t.Errorf("CapacityRow(%s) = %+v, header %s", dim, r, r.Header(Stat{}))
		}
	}
}

func TestHeader(t *testing.T) {
	c := catalogue(t)
	for path, want := range map[string]string{
		"latency.p99": "latency_p99_ms", "latency.p99.9": "latency_p99.9_ms",
		"latency.count": "latency_count",
		"throughput":    "throughput_per_s", "errors.ratio": "errors_ratio", "errors.count": "errors_count",
		"client.cpu_per_request": "client_cpu_per_request_us", "errors.timeout.count": "",
		"ttft.p99": "ttft_p99_ms", "gpu.power.mean": "gpu_power_mean_W",
	} {
		l, ok := c.Leaf(path)
		if got := l.Row.Header(l.Stat); !ok || got != want {
			t.Errorf("%s: header %q, want %q", path, got, want)
		}
	}
}

func TestLongest(t *testing.T) {
	c := catalogue(t)
	for path, want := range map[string]string{
		"latency": "latency|", "latency.p99": "latency|p99", "send_delay.client.x": "send_delay.client|x",
		"send_delay.clint.p9": "send_delay|clint.p9", "errors.ratio.p99": "errors.ratio|p99",
	} {
		r, rest := c.Longest(path)
		if r == nil || r.Name+"|"+rest != want {
			t.Errorf("Longest(%q) = %v, %q, want %s", path, r, rest, want)
		}
	}
	if r, _ := c.Longest("nothing.like.it"); r != nil {
		t.Errorf("Longest of nothing = %s", r.Name)
	}
}

// FuzzStat checks that no word makes ParseStat panic, and that an accepted one is in range and
// spells itself.
func FuzzStat(f *testing.F) {
	for _, s := range []string{
		"p50", "p99.9", "p(99.9)", "p()", "p(", "p(-1)", "p(1e999)", "mean", "", "p", "p..", "p(NaN)", "p100.0",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		stat, why, ok := ParseStat(s)
		if ok && why != "" {
			t.Fatalf("%q: accepted with %q", s, why)
		}
		if !ok {
			return
		}
		if stat.Kind == Percentile && !(stat.P > 0 && stat.P <= 100) {
			t.Fatalf("%q: percentile %v", s, stat.P)
		}
		if again, _, ok := ParseStat(stat.String()); !ok || again != stat {
			t.Fatalf("%q is spelled %q, which reads as %v", s, stat, again)
		}
	})
}

// TestPeersNames: each metric is found by the names that other tools have for it.
func TestPeersNames(t *testing.T) {
	c, err := New(GoodputRows()...)
	if err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{
		"request_latency e2el median_e2el_ms p99_e2el_ms effective_latency": Latency,
		"time_to_first_token mean_ttft_ms p99.9_ttft_ms ttft_ms":            TTFT,
		"time_to_second_token":                                    TTST,
		"time_to_first_output_token ttfo":                         "ttft_answer",
		"inter_token_latency median_tpot_ms std_tpot_ms tpot_ms":  ITL,
		"inter_chunk_latency icl mean_itl_ms p99_itl_ms":          "chunk_gap",
		"time_per_output_token":                                   "tpot",
		"normalized_time_per_output_token":                        NTPOT,
		"output_token_throughput output_throughput":               TokensOutputRate,
		"output_token_throughput_per_user":                        TokensPerUser,
		"request_goodput":                                         Goodput,
		"good_request_fraction goodput_percentage":                GoodputRatio,
		"schedule_delay client_queue_time request_dispatch_delay": "send_delay",
		"input_sequence_length isl":                               TokensInput,
		"output_sequence_length osl":                              TokensOutput,
		"kv_cache_usage_perc":                                     EngineKVCache,
		"max_concurrent_requests":                                 InFlightMax,
	} {
		for name := range strings.FieldsSeq(names) {
			var found []string
			for _, r := range c.Rows() {
				if r.IsCalled(name) {
					found = append(found, r.Name)
				}
			}
			if len(found) != 1 || found[0] != want {
				t.Errorf("%s is %v, want %s", name, found, want)
			}
		}
	}
	for _, name := range []string{"sum_ttft_ms", "p99_ttft", "mean_ttft_ms_x", "p99_nothing_ms", ""} {
		for _, r := range c.Rows() {
			if r.IsCalled(name) {
				t.Errorf("%q is %s", name, r.Name)
			}
		}
	}
}
