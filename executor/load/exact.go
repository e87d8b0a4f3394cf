package load

import "math"

// Exact gives s a fixed number of arrivals: between neighbours of 0 and cuts (ns, ascending)
// exactly as many as the deterministic schedule of the same rate or ramp, after the last cut none.
// For a Poisson process this equals that many times drawn uniformly and sorted. Gaps keep their
// proportions and so their variation. A deterministic schedule only ends at the last cut. s must be
// unplayed.
func Exact(s Schedule, cuts ...int64) Schedule {
	if len(cuts) == 0 {
		return s
	}
	switch s := s.(type) {
	case *random:
		return s.withFixedCounts(cuts)
	case *joined:
		first, second := s.split(cuts)
		rest := Limit(s.second, 0)
		if len(second) > 0 {
			rest = Exact(s.second, second...)
		}
		return &joined{first: Exact(s.first, first...), at: s.at, second: rest}
	}
	if n, ok := countBefore(s, cuts[len(cuts)-1]); ok {
		return Limit(s, n)
	}
	return s
}

func (r *random) withFixedCounts(cuts []int64) Schedule {
	e := &exact{curve: r.curve, gaps: newGaps(r.cv, r.seed)}
	even, from, scan := r.curve.deterministic(), int64(0), newGaps(r.cv, r.seed)
	for _, until := range cuts {
		if until <= from {
			continue
		}
		part := section{
			from: from, until: until, left: even.countBefore(until) - even.countBefore(from),
			base: r.curve.count(from),
		}
		sum := 0.0
		for range part.left + 1 { // the gap after the last arrival reaches to the cut
			sum += scan.next()
		}
		part.scale = (r.curve.count(until) - part.base) / sum
		e.parts, from = append(e.parts, part), until
	}
	return e
}

// exact plays sections one after the other.
type exact struct {
	curve curve
	gaps  gaps
	parts []section
	sum   float64 // of gaps in parts[0]
}

// section is a window with a known number of arrivals: scale maps its sum of gaps to counts of the
// curve.
type section struct {
	from, until int64
	left        int64
	base, scale float64
}

func (e *exact) Next() (int64, bool) {
	for len(e.parts) > 0 {
		p := &e.parts[0]
		gap := e.gaps.next()
		if p.left == 0 {
			e.parts, e.sum = e.parts[1:], 0
			continue
		}
		p.left--
		e.sum += gap
		due := math.Round(e.curve.at(p.base + e.sum*p.scale))
		return int64(min(max(due, float64(p.from)), float64(p.until-1))), true
	}
	return 0, false
}

// Limit returns the first n arrivals of s.
func Limit(s Schedule, n int64) Schedule { return &limited{s: s, left: n} }

type limited struct {
	s    Schedule
	left int64
}

func (l *limited) Next() (int64, bool) {
	if l.left <= 0 {
		return 0, false
	}
	l.left--
	return l.s.Next()
}
