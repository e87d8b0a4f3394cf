package load

import "math"

// Arrivals returns the ramp as a schedule of rates. With cv 0 arrival k, from 1, is due in the last
// nanosecond in which the cumulative count is below k: a window from 0 to T has exactly as many
// arrivals as the count reached at T, duration × (r0+r1)/2 for a straight ramp, with fractions
// carried over all steps. Otherwise gaps vary as those of Gamma, on the same curve.
func (r *Ramp) Arrivals(cv float64, seed [2]uint64) Schedule {
	var s Schedule = (&cumulative{ramp: r}).deterministic()
	if cv > 0 {
		s = newRandom(&cumulative{ramp: r}, cv, seed)
	}
	if r.warm <= 0 {
		return s
	}
	return &joined{first: Gamma(r.first(), cv, [2]uint64{seed[0], ^seed[1]}), at: r.warm, second: s}
}

// cumulative is the cumulative count of a ramp. It remembers its segment, as counts mostly ascend.
type cumulative struct {
	ramp    *Ramp
	segment int
}

// countTolerance allows for rounding of a count: 1.4/s for 60 s are 84 arrivals, whatever 1.4 is in
// binary.
func countTolerance(count float64) float64 { return 1e-9 + 1e-15*count }

// due returns when the count reaches k+1.
func (c *cumulative) due(k int64) (int64, bool) {
	at := math.Round(c.at(float64(k) + 1))
	if !(at < math.MaxInt64) {
		return 0, false
	}
	return max(int64(at)-1, 0), true
}

// at solves a·t + (b-a)·t²/2D = count for t within the segment in which the count is reached.
func (c *cumulative) at(count float64) float64 {
	lines := c.ramp.segments
	if count <= lines[c.segment].count+countTolerance(count) {
		c.segment = 0
	}
	for c.segment < len(lines)-1 && count > lines[c.segment+1].count+countTolerance(count) {
		c.segment++
	}
	l := &lines[c.segment]
	more := max(count-l.count, 0)
	length := float64(l.length) / 1e9 // in s
	slope := (l.b - l.a) / length
	root := math.Sqrt(max(l.a*l.a+2*slope*more, 0))
	if more == 0 {
		return float64(l.from)
	}
	t := 2 * more / (l.a + root) // this form loses no digits and needs no case for a constant rate
	if c.segment < len(lines)-1 {
		t = min(t, length)
	}
	return float64(l.from) + t*1e9
}

func (c *cumulative) count(t int64) float64 {
	l := c.ramp.segmentAt(t)
	x := float64(max(t-l.from, 0)) / 1e9
	return l.count + l.a*x + (l.b-l.a)*x*x/2/(float64(l.length)/1e9)
}

func (c *cumulative) deterministic() *computed {
	even := cumulative{ramp: c.ramp}
	return &computed{due: even.due}
}

// joined plays first until at, then second from there.
type joined struct {
	first, second Schedule
	at            int64
	inSecond      bool
}

func (j *joined) Next() (int64, bool) {
	if !j.inSecond {
		if due, ok := j.first.Next(); ok && due < j.at {
			return due, true
		}
		j.inSecond = true
	}
	due, ok := j.second.Next()
	if due > math.MaxInt64-j.at {
		return 0, false
	}
	return due + j.at, ok
}

// split divides cuts between both parts.
func (j *joined) split(cuts []int64) (first, second []int64) {
	for _, cut := range cuts {
		if cut <= j.at {
			first = append(first, cut)
		} else {
			second = append(second, cut-j.at)
		}
	}
	if second != nil {
		first = append(first, j.at)
	}
	return first, second
}
