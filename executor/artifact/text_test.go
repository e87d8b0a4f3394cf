package artifact

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
)

func TestText(t *testing.T) {
	tests := []struct {
		name, got, want string
	}{
		{"plain", clean.Line("latency.p99 < 50 ms ✓ 漢字"), "latency.p99 < 50 ms ✓ 漢字"},
		{"lines", clean.Line("a\r\nb\tc\u2028d"), "a  b c d"},
		{"terminal", clean.Line("\x1b[31mred\x1b[0m\x07\x7f\u009b"), "[31mred[0m"},
		{"direction", clean.Line("a\u202eb\u2066c\u200fd\ufeff"), "abcd"},
		{"no text", clean.Line("a\xffb\x00\ufffe"), "a\ufffdb"},
		{"short", cut("漢字", 2), "漢字"},
		{"long", cut("漢字漢字", 3), "漢字…"},
		{"scaling", decimal(0.0312 * 1e3 * 1.1), "34.32"},
		{"tiny", decimal(1e-9), "0.000000001"},
		{"huge", decimal(1e15), "1000000000000000"},
		{"zero", decimal(0), "0"},
		{"formula", clean.Cell("=1+1"), "'=1+1"},
		{"at", clean.Cell("@x"), "'@x"},
		{"no formula", clean.Cell("1+1"), "1+1"},
		{"empty", clean.Cell(""), ""},
		{"code", code("a < b"), "`a < b`"},
		{"code in code", code("a `` b"), "``` a `` b ```"},
		{"markup", escape("<b>|*x*|</b>"), `&lt;b&gt;\|\*x\*\|&lt;/b&gt;`},
		{"middle", cutMiddle("sweep[concurrency=16]", 12), "sweep…cy=16]"},
		{"middle of nothing", cutMiddle("short", 12), "short"},
		{"no fold", Fold("  a b", 0), "  a b"},
		{"fold", Fold("  note: one two three", 12), "  note: one\n    two\n    three"},
		{
			"fold columns", Fold("  a   one two three\n  b   x", 12),
			"  a   one\n      two\n      three\n  b   x",
		},
		{"fold a long word", Fold("see /a/very/long/path here", 12), "see\n/a/very/long/path\nhere"},
		{"fold colours", Fold("\x1b[31mred\x1b[0m one two", 8), "\x1b[31mred\x1b[0m one\ntwo"},
		{"point", point(map[string]string{"rate": "9", "batch": "8"}), "batch=8 rate=9"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestWorst(t *testing.T) {
	gate := func(v result.Verdict) result.Assertion { return result.Assertion{Verdict: v, Severity: "gate"} }
	tests := []struct {
		list []result.Assertion
		want result.Verdict
	}{
		{nil, ""},
		{[]result.Assertion{gate(result.Pass), gate(result.Pass)}, result.Pass},
		{[]result.Assertion{gate(result.Pass), gate(result.Inconclusive)}, result.Inconclusive},
		{[]result.Assertion{gate(result.Fail), gate(result.Inconclusive)}, result.Fail},
		{[]result.Assertion{gate(result.Pass), {Verdict: result.Fail, Severity: warn}}, result.Pass},
	}
	for _, tt := range tests {
		if got := worst(tt.list); got != tt.want {
			t.Errorf("worst(%v) = %q, want %q", tt.list, got, tt.want)
		}
	}
}

func TestNext(t *testing.T) {
	done := &result.Node{Outcome: result.Done, Duration: 5, Validity: result.Validity{OK: true}}
	unproven := result.Assertion{Verdict: result.Inconclusive, Samples: 100, Needed: 299}
	tests := []struct {
		name string
		a    result.Assertion
		n    *result.Node
		want string
	}{
		{"too few", unproven, done, "measure for about 15 s instead of 5 s"},
		{"none", result.Assertion{Verdict: result.Inconclusive, Needed: 299}, done, "measure for longer"},
		{"a series that is not shown", result.Assertion{
			Verdict: result.Inconclusive, Needed: 1,
			Reason: `no data: scrape("a").max: the metrics endpoint shows no series a`,
		}, done, ""},
		{
			"a search that found nothing",
			result.Assertion{Verdict: result.Inconclusive, Needed: 1},
			&result.Node{Outcome: result.Done, Duration: 5, Trials: make([]result.Trial, 2)}, "",
		},
		{"of the plan", unproven, nil, ""},
		{"passed", result.Assertion{Verdict: result.Pass, Needed: 299}, done, ""},
		{
			"enough, but unknown",
			result.Assertion{Verdict: result.Inconclusive, Samples: 9, Needed: 1},
			done, "",
		},
		{"interrupted", unproven, &result.Node{
			Outcome: result.InterruptedNode, Duration: 5,
			Validity: result.Validity{OK: true},
		}, ""},
		{
			"unstable", unproven, &result.Node{
				Outcome:  result.Unstable,
				Validity: result.Validity{OK: true},
			},
			"allow more windows, longer ones, or a larger within",
		},
	}
	for _, tt := range tests {
		if got := advice(tt.a, tt.n); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func summary(t *testing.T, r *result.Result, o SummaryOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Summary(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Colour changes nothing but colour, and is there only when it is asked for.
func TestSummaryColor(t *testing.T) {
	o := SummaryOptions{Width: 110, Percentiles: percentiles}
	plain := summary(t, full(), o)
	o.Color = true
	colored := summary(t, full(), o)
	if strings.Contains(plain, "\x1b") || !strings.Contains(colored, "\x1b[31m✗\x1b[0m") {
		t.Error("colours are not where they should be")
	}
	for _, code := range []string{"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[2m", "\x1b[0m"} {
		colored = strings.ReplaceAll(colored, code, "")
	}
	if colored != plain {
		t.Errorf("without its colours:\n%s\nplain:\n%s", colored, plain)
	}
}

// No line is wider than the terminal; an expression that is cut in its table is below it as a whole.
func TestSummaryWidth(t *testing.T) {
	for _, width := range []int{125, 118, 100, 80} {
		text := summary(t, full(), SummaryOptions{Width: width, Percentiles: percentiles})
		for line := range strings.Lines(text) {
			if got := twwidth.Width(strings.TrimRight(line, "\n")); got > width {
				t.Errorf("a line of %d columns on a terminal of %d:\n%s", got, width, line)
			}
		}
		const long = `stage("steady").latency.p50 <= 2 * stage("sweep[concurrency=1]").latency.p50`
		if !strings.Contains(strings.Join(strings.Fields(text), " "), long) {
			t.Errorf("%d columns: a long expression is nowhere as a whole", width)
		}
	}
	if text := summary(t, full(), SummaryOptions{Percentiles: percentiles}); strings.Contains(text, "…") {
		t.Error("something is cut although there is no width")
	}
	summary(t, full(), SummaryOptions{Width: 1, Percentiles: percentiles})
}

// Percentile columns are those of the plan.
func TestPercentileColumns(t *testing.T) {
	text := every(t, full())
	for file, want := range map[string]string{
		"stages.csv": ",latency_p99.9_ms,",
		"summary.md": "| latency.p99.9 |",
	} {
		if !strings.Contains(text[file], want) {
			t.Errorf("%s has no %s", file, want)
		}
	}
	if strings.Contains(text["stages.csv"], "latency_p95_ms") {
		t.Error("stages.csv has a percentile that was not asked for")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestSummaryTellsOfAFailedWriter(t *testing.T) {
	if err := Summary(fullDisk{}, full(), SummaryOptions{}); err == nil ||
		err.Error() != "write summary: disk full" {
		t.Errorf("error = %v", err)
	}
}

// Large results stay under what GitHub takes for a step's summary.
func TestSummaryMarkdownIsBounded(t *testing.T) {
	r := full()
	node := *r.Nodes[3]
	for range 5000 {
		n := node
		n.Assertions = []result.Assertion{{
			That: strings.Repeat("<", 3000), Verdict: result.Fail,
			Reason: strings.Repeat("&", 3000),
		}}
		n.Errors = []result.ErrorClass{{Class: "status", Count: 1, Example: strings.Repeat("<", 256)}}
		r.Nodes = append(r.Nodes, &n)
	}
	text, err := summaryMarkdown(r, Options{Percentiles: percentiles})
	if err != nil || len(text) > 1<<20 {
		t.Errorf("%d bytes (%v)", len(text), err)
	}
	if !strings.Contains(string(text), "more are in result.json") {
		t.Error("nothing says that something is missing")
	}
}

var nanOrInf = regexp.MustCompile(`\b(NaN|Inf)\b`)

func TestNumbersThatAreNone(t *testing.T) {
	r := full()
	r.Nodes[0].Metrics["throughput"] = result.Scalar(rowOf("throughput"), math.NaN(), true)
	for file, text := range every(t, r) {
		if nanOrInf.MatchString(text) {
			t.Errorf("%s has a number that is none", file)
		}
	}
}

// TestBoundRows: numbers of a late client have rows of what they are at least and at most.
func TestBoundRows(t *testing.T) {
	number := func(v float64) *result.Metric { return &result.Metric{Unit: "1/s", Value: &v} }
	rate := number(10)
	rate.SetBounds(number(9), number(12))
	n := &result.Node{
		ID: "late", Outcome: result.Done, Validity: result.Validity{OK: true},
		Metrics: map[string]*result.Metric{"requests.rate": rate, "requests.count": number(50)},
	}
	g, err := nodeGrid(&result.Result{Nodes: []*result.Node{n}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, cells := range g.rows {
		got = append(got, strings.Join(cells, " | "))
	}
	for i, want := range [][]string{{"late", "10/s", "bounded"}, {"at least", "9/s"}, {"at most", "12/s"}} {
		for _, text := range want {
			if !strings.Contains(got[i], text) {
				t.Errorf("row %d is %q, want %q in it", i, got[i], text)
			}
		}
	}
	csv, err := stagesCSV(&result.Result{Nodes: []*result.Node{n}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(csv), "\n") // the bounds follow all other columns
	if !strings.HasSuffix(lines[0], ",requests_rate_per_s_low,requests_rate_per_s_high") ||
		!strings.HasSuffix(lines[1], ",9,12") {
		t.Errorf("%s", csv)
	}
}
