package trial

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGuideShowsQueue: the guide shows the bounds of eight runs of mm1, as they are. UPDATE_GUIDE=1 draws
// them again.
func TestGuideShowsQueue(t *testing.T) {
	const file, title = "../../plans/README.md", "run   p95 by the parts of hold\n"
	p := compilePlan(t, "stages: [{id: s, load: {rate: 170/s, arrivals: poisson}, for: 15s, "+
		"assert: [{that: latency.p95 < 95ms, confidence: 95%}]}]")
	var want strings.Builder
	hold := regexp.MustCompile(`hold for at least ([^:]*):`)
	for seed := range uint64(8) {
		a := simulate(t, p, mm1(seed)).Assertions[0]
		told := hold.FindStringSubmatch(a.Reason)
		if told == nil {
			t.Fatalf("seed %d: %s", seed, a.Reason)
		}
		fmt.Fprintf(&want, "%d%s open: hold for %s\n", seed+1, bar(a.Low, a.High), told[1])
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), title)
	shown, after, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s has no picture", file)
	}
	if os.Getenv("UPDATE_GUIDE") != "" {
		if err := os.WriteFile(file, []byte(before+title+want.String()+"```"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), shown); diff != "" {
		t.Errorf("UPDATE_GUIDE=1 draws it again (-want +shown):\n%s", diff)
	}
}

// bar draws an interval of seconds, of which a bound may be missing, in columns 5 to 49 of the guide's
// picture, where 30 ms is in column 9 and 95 ms in column 25.
func bar(lo, hi *float64) string {
	const first, last = 5, 49
	line := []byte(strings.Repeat("-", last))
	column := func(v *float64) int {
		return min(max(9+int(math.Round((*v-0.03)/0.065*16)), first), last) - 1
	}
	from, to := first-1, last-1
	if lo != nil {
		from = column(lo)
	}
	if hi != nil {
		to = column(hi)
	}
	for i := range line {
		switch {
		case i < from || i > to:
			line[i] = ' '
		case i == from && lo == nil:
			line[i] = '<'
		case i == to && hi == nil:
			line[i] = '>'
		}
	}
	return string(line)
}
