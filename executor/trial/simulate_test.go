package trial

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
)

// server returns the next request of a simulated server: due and end, ns since the load began, of
// requests whose dues go up.
type server func() (due, end int64)

// compilePlan compiles a plan of one stage.
func compilePlan(t testing.TB, text string) *program.Program {
	t.Helper()
	plan, diags := scenario.Parse("plan.yaml", []byte("version: 1\n"+
		"target: {backend: kserve, url: \"http://127.0.0.1:1\", model: m}\n"+text), scenario.Overrides{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := program.Compile(plan, all.Kinds())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

// simulate plays the only stage of a program against a simulated server on virtual time, and judges its
// assertions: folding, steering, numbers and verdicts are those of a run, only requests are not sent.
func simulate(t *testing.T, p *program.Program, s server) (out *result.Node) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		out = simulated(p, s)
	})
	return out
}

// simulating makes what runs the only stage of a program.
func simulating(p *program.Program) (r *running, out *result.Node, rings *measure.Rings) {
	n := p.Nodes[0]
	out = &result.Node{
		ID: n.ID, Stage: n.Stage.ID, Metrics: map[string]*result.Metric{},
		Validity: result.Validity{OK: true, Findings: []result.Finding{}},
	}
	in := &Input{
		Node: n, Parts: p.Parts(n), Checks: p.ChecksOn(n), Requests: &Requests{}, Result: out,
		Values: func(own *result.Node) result.Stored {
			return result.Values(&result.Result{Nodes: []*result.Node{own}}, own)
		},
		Percentiles: p.Plan.Output.Percentiles, Mask: func(s string) string { return s },
	}
	clock := backends.Clock{Origin: time.Now()}
	host := &Host{
		Clock: clock, Client: new(delay.Client), Stopped: func() string { return "" },
		Agree: func(stable bool) bool { return stable }, Abort: func(string) {},
	}
	if limit := n.Stage.MaxDuration; limit > 0 {
		in.Deadline = int64(limit)
	}
	amounts, _ := n.Amounts(in.Values(out))
	rings = measure.NewRings(1, 1024, 0)
	r = &running{
		host: host, in: in, plan: n.LoadWith(amounts, nil, [2]uint64{}), control: new(drive.Control),
	}
	late := host.Client.Join(delayLimits(in))
	r.folder = measure.New(folderConfig(r, rings, cutHold(r.plan.Length, n.Stage.Extent), late))
	return r, out, rings
}

func simulated(p *program.Program, s server) *result.Node {
	r, out, rings := simulating(p)
	in, control, clock := r.in, r.control, r.host.Clock
	steering := newSteering(r)
	const start = int64(1)
	steering.begin(start)
	control.HoldStart.Store(start + r.plan.Warm)

	m := &measured{start: start}
	queue := inOrder{next: s}
	for clock.Now() < control.StopAt.Load() {
		time.Sleep(10 * tick)
		now := clock.Now()
		control.OldestDue.Store(start + queue.until(now-start, func(due, end int64) {
			if due < control.StopAt.Load()-start {
				hand(rings, start+due, start+end, due < r.plan.Warm)
			}
		}))
		r.folder.Drain(now)
		steering.decide(now)
	}
	stop := control.StopAt.Load() // what was due before it is waited for
	queue.until(math.MaxInt64, func(due, end int64) {
		if due < stop-start {
			hand(rings, start+due, start+end, due < r.plan.Warm)
			r.folder.Drain(start + end)
		}
	})
	control.OldestDue.Store(math.MaxInt64)
	m.total, m.end = r.folder.Finish(math.MaxInt64/2), steering.end
	m.played = drive.Played{Planned: m.total.Aggregate.Sent, Sent: m.total.Aggregate.Sent, PeakInFlight: 1}
	m.end.notes.addTo(out)
	m.cutToWindows(out)
	out.Look = m.end.look
	enterBooks(m, r, nil)
	readings := &Readings{in: in, total: m.total, sent: m.played.Sent}
	readings.Fill(out)
	trends(in).addTo(out)
	settleOutcome(out, &m.end)
	judge(p, out)
	return out
}

// judge judges the assertions of a node on its stored form.
func judge(p *program.Program, out *result.Node) {
	values := result.Values(&result.Result{Nodes: []*result.Node{out}}, out)
	out.Assertions = nil
	for _, c := range p.Nodes[0].Checks {
		if c.ID != program.DefaultErrors {
			out.Assertions = append(out.Assertions,
				verdict.Judge(c.Assertion, c.Program, verdict.Context{}, values))
		}
	}
}

// hand gives a finished request to the folder.
func hand(rings *measure.Rings, due, end int64, warm bool) {
	s := rings.Get(0)
	s.Due, s.Free, s.SendStart, s.SendEnd, s.FirstByte, s.LastByte = due, due, due, due, end, end
	s.Items, s.Responses = 1, 1
	if warm {
		s.Flags |= backends.Warmup
	}
	rings.Put(0, s)
}

// inOrder hands over the requests of a server when they end.
type inOrder struct {
	next  server
	open  [][2]int64 // due and end
	drawn int64      // due of the last request drawn
}

// until hands over the requests that ended by now and returns the earliest due time of the others. After
// a call with math.MaxInt64, which draws none, there are no others.
func (q *inOrder) until(now int64, hand func(due, end int64)) (oldest int64) {
	for now != math.MaxInt64 && q.drawn < now {
		due, end := q.next()
		q.open, q.drawn = append(q.open, [2]int64{due, end}), due
	}
	oldest, left := q.drawn, q.open[:0]
	for _, x := range q.open {
		if x[1] <= now {
			hand(x[0], x[1])
			continue
		}
		left, oldest = append(left, x), min(oldest, x[0])
	}
	q.open = left
	return oldest
}

// reasons lists the reasons of a node's assertions and its findings, for messages of tests.
func reasons(n *result.Node) string {
	var b strings.Builder
	for _, a := range n.Assertions {
		b.WriteString(string(a.Verdict) + " " + a.Reason + "\n")
	}
	for _, f := range n.Validity.Findings {
		b.WriteString(f.Code + ": " + f.Text + "\n")
	}
	return b.String()
}
