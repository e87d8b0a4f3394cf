package metric

// Bound says what a client that sends late or stands still does to a metric, and so how the interval
// of what a client on time would have measured is found.
type Bound uint8

// The bounds.
const (
	Exact   Bound = iota // the value itself
	Due                  // times from when a request was due
	Sent                 // times from when a request was sent
	Gap                  // times between replies of a request
	Flowing              // sums of completions in hold: those that were in it at the earliest and the latest
	Counted              // failures: without those that the client may have caused
	Blurred              // unknown once more than 1 % of the requests were sent late
)

// Bounded returns the bound of a leaf: a deviation says nothing once the values are intervals, and the
// number of values is no measurement.
func (l Leaf) Bounded() Bound {
	switch b := l.Row.Bound; {
	case l.Stat.Kind == N:
		return Exact
	case l.Stat.Kind == Std && b != Exact:
		return Blurred
	default:
		return b
	}
}

// Drops reports whether a row counts dropped requests by a full pool.
func (r *Row) Drops() bool { return r.Name == DroppedCount || r.Name == DroppedRatio }

// OutlivesDrops reports whether a row has bounds even if a late client made arrivals find no room. Which
// requests are sent, and so what the server does with each, then differs from then on.
func (r *Row) OutlivesDrops() bool { return r.Bound == Exact || r.Drops() || r.OfErrors() }
