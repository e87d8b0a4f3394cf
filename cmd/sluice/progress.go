package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// view shows progress on standard error: on a terminal one line that is redrawn, elsewhere a line
// for each event.
type view struct {
	mu      sync.Mutex
	w       io.Writer
	redraws bool
	quiet   bool       // print only messages from outside the run
	columns func() int // current width of the terminal
	now     func() time.Time
	drawnAt time.Time
	// by node, "" for set-up: time of its latest line, if nothing is redrawn
	lastLine     map[string]time.Time
	drawn        bool              // the progress line is on the terminal
	startedParts map[string]string // by running node: the part whose start was printed
	running      []executor.Event  // latest event of each running node, in order of their starts
	lastSetUp    string            // the last text of set-up that was printed
	mask         func(string) string
	position     map[string]int
	total        int
}

const redraw = 200 * time.Millisecond

// noteEvery is the time between two lines of a running node if nothing is redrawn: some CI systems
// end a silent job.
const noteEvery = 30 * time.Second

func (a *app) progress(p *program.Program, quiet bool) *view {
	v := &view{
		w: a.err, redraws: a.terminal && !quiet, quiet: quiet, now: time.Now,
		columns: func() int { return cmp.Or(terminalWidth(a.err), 80) },
		mask:    p.Plan.Mask, position: make(map[string]int), startedParts: make(map[string]string),
		lastLine: make(map[string]time.Time), total: len(p.Nodes),
	}
	for i, n := range p.Nodes {
		v.position[n.ID] = i + 1
	}
	return v
}

// event shows one event of the run.
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

// silent reports whether no line of a node was written for noteEvery.
func (v *view) silent(node string) bool { return v.now().Sub(v.lastLine[node]) >= noteEvery }

// nodeLine writes a line of a running node.
func (v *view) nodeLine(node, text string) {
	v.lastLine[node] = v.now()
	v.line(text)
}

// startsPart reports whether the start of a node, or of a part of it, was not printed yet. Members
// of a group alternate.
func (v *view) startsPart(e executor.Event) bool {
	part, printed := v.startedParts[e.Node]
	v.startedParts[e.Node] = e.Part
	return !printed || part != e.Part
}

// remember stores the latest event of a running node.
func (v *view) remember(e executor.Event) {
	if i := slices.IndexFunc(v.running, func(r executor.Event) bool { return r.Node == e.Node }); i >= 0 {
		v.running[i] = e
		return
	}
	v.running = append(v.running, e)
}

// progressLine returns the progress line: running nodes beside each other, as far as there is room.
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

// partOf returns the name of the repeat or trial as a prefix.
func partOf(e executor.Event) string {
	if e.Part == "" {
		return ""
	}
	return e.Part + ": "
}

func (v *view) head(node string) string {
	return fmt.Sprintf("[%d/%d] %s: ", v.position[node], v.total, node)
}

// nodeSummary returns the outcome of a node and its reason on one line.
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

// draw replaces the progress line, at most five times a second unless now is set.
func (v *view) draw(text string, now bool) {
	if !now && time.Since(v.drawnAt) < redraw {
		return
	}
	v.drawnAt = time.Now()
	fmt.Fprintf(v.w, "\r\x1b[K%s", short(text, v.columns()-1)) // a wrapped line cannot be erased
	v.drawn = true
}

// line writes a permanent line, cut to the terminal; the report has the whole text.
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

// message writes a line that is not about a node.
func (v *view) message(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.line(fmt.Sprintf(format, args...))
}

// close removes the progress line.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
}

// part is a piece of a progress line. If the line is too long, parts of the highest rank are left
// out first.
type part struct {
	text string
	rank int
}

// status returns the progress line of a node, in at most columns columns.
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

// joinParts joins the parts up to a rank.
func joinParts(parts []part, rank int) string {
	var texts []string
	for _, p := range parts {
		if p.rank <= rank && p.text != "" {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "  ")
}

// phaseParts returns the progress of the phase.
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

// numberParts returns the numbers of the last second.
func numberParts(e executor.Event) []part {
	l := e.Live
	if l == nil || l.At == 0 {
		return nil
	}
	parts := []part{{result.Format("1/s", l.Rate), 2}}
	if l.N > 0 {
		parts = append(parts,
			part{"p50 " + result.Format("s", float64(l.P50)/1e9), 4},
			part{"p99 " + result.Format("s", float64(l.P99)/1e9), 3})
	}
	parts = append(parts, part{fmt.Sprintf("%d in flight", l.InFlight), 6})
	if l.Failed > 0 || l.N > 0 {
		parts = append(parts, part{fmt.Sprintf("%d failed", l.Failed), 1})
	}
	return parts
}

// clock formats a running time: with tenths below ten seconds.
func clock(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	return d.Truncate(time.Second).String()
}

// short cuts a text to a number of columns.
func short(text string, columns int) string {
	if r := []rune(text); len(r) > max(columns, 1) {
		return string(r[:max(columns-1, 0)]) + "…"
	}
	return text
}
