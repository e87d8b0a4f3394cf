package measure

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ms is the unit of the tables below.
const ms = int64(1e6)

// node is a folder and its rings, fed by hand.
type node struct {
	t          *testing.T
	rings      *Rings
	start, end int64
	*Folder
}

func newNode(t *testing.T, c Config) *node {
	n := &node{t: t, rings: NewRings(2, 64, 0), start: 1000 * ms}
	c.Rings = n.rings
	c.HoldStart = func() int64 { return n.start }
	c.HoldEnd = func() int64 { return n.end }
	unknown := func() int64 { return 0 }
	if c.Settled == nil {
		c.Settled = unknown
	}
	if c.InFlight == nil {
		c.InFlight = unknown
	}
	n.Folder = New(c)
	return n
}

// done hands over an ok request of one item that was sent when it was due; change edits it. Times
// in ms of hold.
func (n *node) done(due, end int64, change ...func(*backends.Sample)) {
	n.t.Helper()
	s := n.rings.Get(0)
	if s == nil {
		n.t.Fatal("no empty buffer")
	}
	s.Due, s.LastByte = 1000*ms+due*ms, 1000*ms+end*ms
	s.SendStart, s.Free, s.Items, s.Responses, s.BytesSent, s.BytesReceived = s.Due, s.Due, 1, 1, 100, 10
	for _, f := range change {
		f(s)
	}
	n.rings.Put(0, s)
}

// at drains at a time in ms of hold.
func (n *node) at(t int64) { n.Drain(1000*ms + t*ms) }

func failed(class backends.ErrorClass, note string) func(*backends.Sample) {
	return func(s *backends.Sample) {
		s.Class = class
		s.SetNote([]byte(note))
	}
}

func warm(s *backends.Sample) { s.Flags |= backends.Warmup }

func catalogue(t testing.TB) *metric.Catalogue {
	t.Helper()
	c, err := metric.New(metric.GoodputRows()...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// value is a leaf of a by name; the second is false for no data.
func value(t testing.TB, a *Aggregate, path string) (float64, bool) {
	t.Helper()
	l, ok := catalogue(t).Leaf(path)
	if !ok {
		t.Fatalf("no leaf %s", path)
	}
	return a.LeafValue(l)
}
