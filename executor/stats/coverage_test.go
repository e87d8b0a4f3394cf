package stats

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
)

var update = flag.Bool("update", false, "measure testdata/systems.txt and testdata/coverage.txt again")

// nsPerService is the mean service time.
const nsPerService = 5e6

// kept is a run as it is kept.
type kept struct {
	whole        Dist
	table        *Table
	failed, sent []int64
	hold         Hold
}

func keep(list []request) *kept {
	k := &kept{failed: make([]int64, MaxParts), sent: make([]int64, MaxParts)}
	var parts Parts
	from := list[0].due
	span := (list[len(list)-1].due - from) * (1 + 1e-9)
	for _, x := range list {
		i := int(MaxParts * (x.due - from) / span)
		v := int64(x.latency * nsPerService)
		k.whole.Add(v)
		parts.Add(i, v)
		k.sent[i]++
		if x.failed {
			k.failed[i]++
		}
	}
	k.table = parts.Table(0, MaxParts)
	k.hold = Hold{Seconds: span * nsPerService / 1e9, Beside: k.table}
	return k
}

// statistics are those whose bounds are tested.
var statistics = []string{"p50", "p95", "p99", "mean", "errors"}

// intervals returns those of statistics from parts, and those of independent requests.
func (k *kept) intervals(confidence float64) (parts []Interval, independent [][2]float64) {
	for _, p := range []float64{50, 95, 99} {
		parts = append(parts, k.hold.Percentile(&k.whole, 0, k.table, p, confidence))
		lo, hi, _ := k.whole.Bounds(p, confidence, 0)
		independent = append(independent, [2]float64{orInfinite(lo), orInfinite(hi)})
	}
	parts = append(parts, k.hold.Mean(&k.whole, k.table, confidence), k.hold.Ratio(k.failed, k.sent, confidence))
	lo, hi, _ := MeanBounds(k.whole.Mean(), k.whole.Std(), k.whole.n, confidence)
	independent = append(independent, [2]float64{lo, hi})
	errors, all := series{floats(k.failed), floats(k.sent)}.totals()
	lo, hi, _ = ClopperPearson(int64(errors), int64(all), confidence)
	return parts, append(independent, [2]float64{lo, hi})
}

// point counts what happened to one statistic of one system at one load and number of requests.
type point struct {
	runs                int
	known, open, trends int       // of runs: bounds, of which one is infinite; refused for a trend
	above, below        int       // of known: the truth lies outside
	independent         int       // of runs: bounds of independent requests hold the truth
	widths              []float64 // finite ones in units of those of independent requests
}

func (p *point) add(x Interval, independent [2]float64, truth float64) {
	p.runs++
	if independent[0] <= truth && truth <= independent[1] {
		p.independent++
	}
	if x.Refused == Trending {
		p.trends++
	}
	if x.Refused != Known {
		return
	}
	p.known++
	if x.Hi < truth {
		p.above++
	}
	if x.Lo > truth {
		p.below++
	}
	if math.IsInf(x.Hi-x.Lo, 1) {
		p.open++
		return
	}
	p.widths = append(p.widths, (x.Hi-x.Lo)/(independent[1]-independent[0]))
}

func (p *point) cover() float64 { return 1 - float64(p.above+p.below)/float64(max(1, p.known)) }

// missing is the share of runs in which a bound is missing.
func (p *point) missing() float64 { return float64(p.runs-p.known+p.open) / float64(p.runs) }

func percent(v float64) string { return strconv.Itoa(int(math.Round(100 * v))) }

func median(list []float64) float64 {
	if len(list) == 0 {
		return math.Inf(1)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

const legend = `# Two-sided 95 % bounds from parts of hold, 400 runs a line (go test ./executor/stats -run PartsCover
# -update, with SLUICE_TESTS=all). Of each statistic: in how many % of the runs that are not refused the
# truth lies within, an unknown upper bound being infinite; (in how many % of all runs a bound is unknown);
# in how many % bounds that take requests as independent hold the truth; x by how much those of parts are
# wider, where both are known.
`

// TestPartsCover draws runs of systems whose truth is known and counts how often bounds of 95 % on both
// sides hold it. With so few runs for each point chance makes some look worse than they are; 400 runs
// each are in testdata/coverage.txt.
func TestPartsCover(t *testing.T) {
	truths := readTruths(t)
	runs, loads, lengths := 30, []float64{0.3, 0.85}, []int{3000}
	if cases.All() {
		runs, loads, lengths = 60, []float64{0.3, 0.6, 0.85, 0.95}, []int{3000, 12000, 48000}
	}
	if *update {
		runs = 400
	}
	table := &strings.Builder{}
	table.WriteString(legend)
	fmt.Fprintf(table, "%-17s %4s %8s |", "system", "load", "requests")
	for _, s := range statistics {
		fmt.Fprintf(table, " %-17s |", s)
	}
	var cover, points float64
	for _, q := range queues() {
		for _, load := range loads {
			truth := truths[fmt.Sprintf("%s %g", q.name, load)]
			for _, n := range lengths {
				list := q.points(runs, n, load, truth)
				fmt.Fprintf(table, "\n%-17s %4g %8d |", q.name, load, n)
				for i := range list {
					p := &list[i]
					cover, points = cover+p.cover(), points+1
					p.check(t, fmt.Sprintf("%s, load %g, %d requests, %s", q.name, load, n, statistics[i]))
					width := strconv.FormatFloat(median(p.widths), 'g', 3, 64)
					fmt.Fprintf(table, " %3s (%3s) %3s x%-4s |", percent(p.cover()), percent(p.missing()),
						percent(float64(p.independent)/float64(p.runs)), strings.Replace(width, "+Inf", "-", 1))
				}
				if q.name == "independent" {
					checkIndependent(t, list)
				}
				if load == 0.3 && n == 12000 {
					checkMissing(t, q.name, list)
				}
			}
		}
	}
	t.Logf("%.1f %% on average of %g points", 100*cover/points, points)
	if cover/points < 0.95 {
		t.Errorf("bounds of 95 %% cover %.1f %% on average", 100*cover/points)
	}
	if *update {
		write(t, "testdata/coverage.txt", table.String()+"\n")
	}
}

// TestRareTimeoutsCover: M/M/1 at load 0.85 whose requests time out after what 0.5 % exceed. Most runs of
// 3000 requests see no such queue, or one, and their upper bound of the share must hold it all the same:
// without the latencies beside it is below the truth in two of three. Where latencies do not depend on each
// other none is widened.
func TestRareTimeoutsCover(t *testing.T) {
	const runs, load, truth = 300, 0.85, 0.005
	limit := -math.Log(truth) / (1 - load) // P(latency > x) = exp(-(1-load) x)
	below, alone := 0, 0
	timeouts := func(list []request) *kept {
		for i := range list {
			list[i].failed = list[i].latency > limit
		}
		return keep(list)
	}
	draw := open(1, (*rand.Rand).ExpFloat64)
	for run := range uint64(runs) {
		k := timeouts(draw(rand.New(rand.NewPCG(run, 7)), 3000, load))
		if x := k.hold.Ratio(k.failed, k.sent, 0.95); x.Refused == Known && x.Hi < truth {
			below++
		}
		k.hold.Beside = nil
		if x := k.hold.Ratio(k.failed, k.sent, 0.95); x.Hi < truth {
			alone++
		}
	}
	t.Logf("of %d bounds %d are below the truth, without latency %d", runs, below, alone)
	if below > runs/25 || alone < runs/2 {
		t.Errorf("of %d bounds %d are below the truth, without latency %d", runs, below, alone)
	}
	k := timeouts(independent(rand.New(rand.NewPCG(1, 7)), 3000, load))
	clear(k.failed)
	_, want, _ := ClopperPearson(0, 3000, 0.95)
	if x := k.hold.Ratio(k.failed, k.sent, 0.95); x.Lo != 0 || x.Hi < want || x.Hi > 1.2*want {
		t.Errorf("no timeout of independent requests: %g … %g, want 0 … %g", x.Lo, x.Hi, want)
	}
}

// points returns those of statistics, from runs with fixed seeds.
func (q queue) points(runs, n int, load float64, truth []float64) []point {
	list := make([]point, len(statistics))
	for run := range runs {
		r := rand.New(rand.NewPCG(uint64(run), uint64(n)+uint64(load*1000)))
		parts, independent := keep(q.draw(r, n, load)).intervals(0.95)
		for i, x := range parts {
			list[i].add(x, independent[i], truth[i])
		}
	}
	return list
}

// check allows three standard deviations to a point whose bounds cover 90 % and miss 6 % on a side, and
// none with -update.
func (p *point) check(t *testing.T, name string) {
	t.Helper()
	chance := func(share float64) float64 {
		if *update {
			return 0
		}
		return 3 * math.Sqrt(share*(1-share)/float64(max(1, p.known)))
	}
	known := float64(max(1, p.known))
	if p.cover() < 0.9-chance(0.1) || float64(max(p.above, p.below))/known > 0.06+chance(0.06) {
		t.Errorf("%s: of %d intervals %d lie above the truth and %d below", name, p.known, p.below, p.above)
	}
}

// checkIndependent checks the costs of parts for requests that do not depend on each other.
func checkIndependent(t *testing.T, list []point) {
	t.Helper()
	for i := range list {
		p := &list[i]
		if w := median(p.widths); w > 1.3 || p.known < p.runs-p.runs/200 {
			t.Errorf("%s of independent requests: %d of %d known, %.2f times as wide", statistics[i], p.known,
				p.runs, w)
		}
	}
}

// checkMissing allows two standard deviations to a point whose bounds are missing in 15 % of the runs, and
// none with -update.
func checkMissing(t *testing.T, name string, list []point) {
	t.Helper()
	for i := range list {
		most := 0.15
		if !*update {
			most += 2 * math.Sqrt(0.15*0.85/float64(list[i].runs))
		}
		if m := list[i].missing(); m > most {
			t.Errorf("%s of %s at load 0.3: %.0f %% without a bound", statistics[i], name, 100*m)
		}
	}
}

// TestTruths measures the truths of testdata/systems.txt again, roughly and where it is quick.
func TestTruths(t *testing.T) {
	truths := readTruths(t)
	loads, millions := []float64{0.3}, 1
	if *update {
		loads, millions = []float64{0.3, 0.6, 0.85, 0.95}, 40
	}
	text := &strings.Builder{}
	for _, q := range queues() {
		for _, load := range loads {
			name := fmt.Sprintf("%s %g", q.name, load)
			got := q.truth(load, millions)
			fmt.Fprintf(text, "%s: %.6g %.6g %.6g %.6g %.6g\n", name, got[0], got[1], got[2], got[3], got[4])
			for i, v := range got {
				if math.Abs(v/truths[name][i]-1) > []float64{0.01, 0.02, 0.05, 0.03, 0.1}[i] {
					t.Errorf("%s of %s is %v, want %v", statistics[i], name, v, truths[name][i])
				}
			}
		}
	}
	if *update {
		write(t, "testdata/systems.txt", "# p50, p95, p99 and mean of latency in ns, and the share of errors,"+
			" of the systems of queues_test.go by load;\n# M/M/1 by formula, others from 40 million requests.\n"+
			text.String())
	}
}

// truth returns the true statistics: of M/M/1 by formula, else from millions of requests.
func (q queue) truth(load float64, millions int) (values []float64) {
	if q.name == "M/M/1" {
		mean := nsPerService / (1 - load)
		for _, p := range []float64{0.5, 0.95, 0.99} {
			values = append(values, -math.Log(1-p)*mean)
		}
		return append(values, mean, 0.001+0.199*load*math.Exp(-8*(1-load)))
	}
	var whole Dist
	errors := 0.0
	for part := range millions {
		for _, x := range q.draw(rand.New(rand.NewPCG(99, uint64(part))), 1e6, load) {
			whole.Add(int64(x.latency * nsPerService))
			if x.failed {
				errors++
			}
		}
	}
	for _, p := range []float64{50, 95, 99} {
		v, _ := whole.Rank(p)
		values = append(values, float64(v))
	}
	return append(values, whole.Mean(), errors/float64(whole.N()))
}

func readTruths(t *testing.T) map[string][]float64 {
	t.Helper()
	text, err := os.ReadFile("testdata/systems.txt")
	if err != nil {
		t.Fatal(err)
	}
	truths := map[string][]float64{}
	for line := range strings.Lines(string(text)) {
		name, values, ok := strings.Cut(line, ": ")
		for _, f := range strings.Fields(values) {
			v, err := strconv.ParseFloat(f, 64)
			if !ok || err != nil {
				t.Fatalf("testdata/systems.txt: %q: %v", line, err)
			}
			truths[name] = append(truths[name], v)
		}
	}
	return truths
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
