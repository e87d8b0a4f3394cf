package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// view shows progress on stderr: one line that is redrawn on a terminal, a line for each event elsewhere.
type view struct {
	mu           sync.Mutex
	w            io.Writer
	redraws      bool
	quiet        bool       // nothing but what comes from outside the run
	columns      func() int // of the terminal, as it is now
	now          func() time.Time
	drawnAt      time.Time
	lastLine     map[string]time.Time // by node, "" for set-up: when its latest line was written, where there is no live line
	drawn        bool                 // a live line stands on the terminal
	startedParts map[string]string    // by node that runs: the part of it whose start was said
	running      []executor.Event     // the latest of each node that runs, in the order in which they started
	lastSetUp    string               // the last text of set-up that was said
	mask         func(string) string
	position     map[string]int
	total        int
}

const redraw = 200 * time.Millisecond

// noteEvery is the time between two lines of a node that runs where there is no live line: some CI systems end a job that is
// silent, and people too.
const noteEvery = 30 * time.Second

func (a *app) progress(p *program.Program, quiet bool) *view {
	v := &view{
		w: a.err, redraws: a.terminal && !quiet, quiet: quiet, columns: columnsOf(a.err), now: time.Now, mask: p.Plan.Mask,
		position: make(map[string]int), startedParts: make(map[string]string), lastLine: make(map[string]time.Time), total: len(p.Nodes),
	}
	for i, n := range p.Nodes {
		v.position[n.ID] = i + 1
	}
	return v
}

// event takes one event of the run.
func (v *view) event(e executor.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e.Text = v.mask(e.Text)
	switch {
	case v.quiet:
	case e.Phase == executor.PhaseDone:
		delete(v.startedParts, e.Node)
		v.running = slices.DeleteFunc(v.running, func(r executor.Event) bool { return r.Node == e.Node })
		v.line(v.head(e.Node) + nodeSummary(e.Result, v.mask(e.Result.Reason)))
	case e.Text != "":
		if v.redraws {
			v.draw(e.Text, false)
		} else if e.Text != v.lastSetUp || v.silent("") {
			v.nodeLine("", e.Text)
		}
		v.lastSetUp = e.Text
	case v.redraws:
		v.remember(e)
		v.draw(v.progressLine(), e.Phase == executor.PhaseOpen)
	case v.startsPart(e):
		v.nodeLine(e.Node, v.head(e.Node)+partOf(e)+"started")
	case v.silent(e.Node):
		v.nodeLine(e.Node, status(v.head(e.Node)+partOf(e), e, v.columns()))
	}
}

// silent reports whether nothing was written about a node for noteEvery.
func (v *view) silent(node string) bool { return v.now().Sub(v.lastLine[node]) >= noteEvery }

// nodeLine writes a line about a node that runs.
func (v *view) nodeLine(node, text string) {
	v.lastLine[node] = v.now()
	v.line(text)
}

// startsPart reports whether the start of a node, or of a part of one, is not said yet. Members of a group take turns.
func (v *view) startsPart(e executor.Event) bool {
	part, said := v.startedParts[e.Node]
	v.startedParts[e.Node] = e.Part
	return !said || part != e.Part
}

// remember remembers what a node that runs said last.
func (v *view) remember(e executor.Event) {
	if i := slices.IndexFunc(v.running, func(r executor.Event) bool { return r.Node == e.Node }); i >= 0 {
		v.running[i] = e
		return
	}
	v.running = append(v.running, e)
}

// progressLine is the live line: side by side what runs, as far as there is room.
func (v *view) progressLine() string {
	const least, between = 36, " | "
	columns := v.columns() - 1
	n := max(min(len(v.running), (columns+len(between))/(least+len(between))), 1)
	var texts []string
	for _, e := range v.running[:n] {
		texts = append(texts, status(v.head(e.Node)+partOf(e), e, (columns+len(between))/n-len(between)))
	}
	text := strings.Join(texts, between)
	if more := fmt.Sprintf(" +%d", len(v.running)-n); n < len(v.running) {
		text = short(text, columns-len(more)) + more
	}
	return text
}

// partOf names the repeat or the trial.
func partOf(e executor.Event) string {
	if e.Part == "" {
		return ""
	}
	return e.Part + ": "
}

// columnsOf asks a terminal how wide it is; people resize them.
func columnsOf(w io.Writer) func() int {
	const usual = 80
	file, ok := w.(*os.File)
	return func() int {
		if ok {
			if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
				return n
			}
		}
		return usual
	}
}

func (v *view) head(node string) string {
	return fmt.Sprintf("[%d/%d] %s: ", v.position[node], v.total, node)
}

// nodeSummary says how a node went, and why, in one line.
func nodeSummary(n *result.Node, reason string) string {
	text := string(n.Outcome)
	switch {
	case strings.HasPrefix(reason, text): // "interrupted after 3 s"
		return reason
	case reason != "":
		return text + ": " + reason
	}
	if rate, ok := n.Metrics[metric.RequestsRate].Stat(metric.Stat{}); ok {
		text += ", " + result.Format("1/s", rate)
	}
	if p99, ok := n.Metrics[metric.Latency].Stat(metric.Stat{Kind: metric.Percentile, P: 99}); ok {
		text += ", p99 " + result.Format("s", p99)
	}
	bad := 0
	for _, a := range n.Assertions {
		if a.Verdict != result.Pass && a.Verdict != result.Skipped && a.Severity != result.Warn {
			bad++
		}
	}
	if bad > 0 {
		text += fmt.Sprintf(", %d of %d assertions not passed", bad, len(n.Assertions))
	}
	return text
}

// draw replaces the live line, at most five times a second unless it must be seen.
func (v *view) draw(text string, now bool) {
	if !now && time.Since(v.drawnAt) < redraw {
		return
	}
	v.drawnAt = time.Now()
	fmt.Fprintf(v.w, "\r\x1b[K%s", short(text, v.columns()-1)) // a line that wraps could not be erased
	v.drawn = true
}

// line writes a line that stays. What has no room is in the report.
func (v *view) line(text string) {
	v.erase()
	fmt.Fprintln(v.w, short(text, v.columns()))
}

func (v *view) erase() {
	if v.drawn {
		fmt.Fprint(v.w, "\r\x1b[K")
		v.drawn = false
	}
}

// message writes a line from outside the run.
func (v *view) message(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.line(fmt.Sprintf(format, args...))
}

// close removes the live line.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
}

// part is a piece of the live line. Of a line that is too long the parts of the highest rank are left out first.
type part struct {
	text string
	rank int
}

// status is the live line of a node that is running, in at most so many columns.
func status(head string, e executor.Event, columns int) string {
	parts := append([]part{{head + string(e.Phase), 0}}, phaseParts(e)...)
	parts = append(parts, numberParts(e)...)
	for rank := 9; rank > 0; rank-- {
		if text := joinParts(parts, rank); len([]rune(text)) <= columns {
			return text
		}
	}
	return short(joinParts(parts, 0), columns)
}

// joinParts are the parts up to a rank.
func joinParts(parts []part, rank int) string {
	var texts []string
	for _, p := range parts {
		if p.rank <= rank && p.text != "" {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "  ")
}

// phaseParts says how far the phase is.
func phaseParts(e executor.Event) []part {
	switch {
	case e.Total > 0:
		const cells = 20
		filled := min(int(cells*e.Elapsed/e.Total), cells)
		bar := strings.Repeat("█", filled) + strings.Repeat("░", cells-filled)
		return []part{{bar, 5}, {clock(min(e.Elapsed, e.Total)) + "/" + clock(e.Total), 1}}
	case e.Elapsed > 0:
		return []part{{clock(e.Elapsed), 1}}
	}
	return nil
}

// numberParts are those of the last second.
func numberParts(e executor.Event) []part {
	l := e.Live
	if l == nil || l.At == 0 {
		return nil
	}
	parts := []part{{result.Format("1/s", l.Rate), 2}}
	if l.N > 0 {
		parts = append(parts, part{"p50 " + result.Format("s", float64(l.P50)/1e9), 4}, part{"p99 " + result.Format("s", float64(l.P99)/1e9), 3})
	}
	parts = append(parts, part{fmt.Sprintf("%d in flight", l.InFlight), 6})
	if l.Failed > 0 || l.N > 0 {
		parts = append(parts, part{fmt.Sprintf("%d failed", l.Failed), 1})
	}
	return parts
}

// clock is a time that goes on: tenths below ten seconds, so that one sees that it does.
func clock(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	return d.Truncate(time.Second).String()
}

// short cuts a text to so many columns.
func short(text string, columns int) string {
	if r := []rune(text); len(r) > max(columns, 1) {
		return string(r[:max(columns-1, 0)]) + "…"
	}
	return text
}
