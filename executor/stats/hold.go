package stats

import "math"

// Hold describes the measured phase of a node to the bounds of its statistics.
type Hold struct {
	Seconds float64 // of all parts together
	Beside  *Table  // latencies of the node, or nil: how long they depend on each other, others do too
}

// Refusal says why parts give no bounds.
type Refusal uint8

// Refusals.
const (
	Known     Refusal = iota
	FewParts          // less than 10 parts, or none with a value
	Dependent         // hold is too short for how long requests depend on each other
	Trending          // the parts of hold are not alike: warming up, leaking, throttling
)

// Interval is a statistic's confidence interval from the parts of hold. Lo or Hi alone is infinite where
// hold is too short for that bound; NeedHold then says so.
type Interval struct {
	Lo, Hi    float64 // in the unit of the values; infinite if refused
	Refused   Refusal
	Effective float64 // independent requests that would tell as much; at most the number of requests
	Parts     int     // parts compared
	Depend    float64 // seconds over which requests depend on each other; 0: not seen
	NeedHold  float64 // seconds of hold that would do for the bounds that are missing; 0: none is
	Slope     float64 // relative change a second, if Trending
	Settled   float64 // seconds after which the change ends, if Trending; 0: it does not
}

// minParts is the least number of parts whose spread is an estimate.
const minParts = 10

// Percentile returns the interval of the p-th percentile of whole, of which t holds the parts; missing
// counts values known to be larger than all. Requests above the percentile are counted in each part. The
// spread of these counts over that of independent requests (Kish's design effect) tells how many
// independent requests hold amounts to; their order statistics are the bounds (Woodruff, "Confidence
// intervals for medians and other position measures", JASA 47, 1952).
func (h Hold) Percentile(whole *Dist, missing int64, t *Table, p, confidence float64) Interval {
	n := whole.n + missing
	out, s := h.start(float64(n), t)
	lo, hi, ok := whole.Bounds(p, confidence, missing)
	if !ok || out.Refused != Known {
		out.Refused = FewParts
		return out
	}
	factor := 1.0
	if e, above := t.edgeNear(p / 100); e >= 0 {
		times, b := s.times(series{t.above(e), t.sizes()}, above*(1-above/t.total()))
		factor = out.count(times, b, confidence)
	}
	out.Lo, out.Hi = orInfinite(lo), orInfinite(hi)
	if factor > 1 {
		l, u := stretchedRanks(n, factor, p/100, confidence)
		whole = whole.unpacked()
		if out.Lo = math.Inf(-1); l >= 1 {
			out.Lo = float64(min(lo, whole.at(min(l, whole.n))))
		}
		least := math.Log((1-confidence)/2) / math.Log(max(p, 100-p)/100)
		if s.blocks >= longHold && float64(n)/factor >= nearlyEnough*least {
			u = min(u, whole.n)
		}
		if out.Hi = math.Inf(1); u <= whole.n {
			value, above := float64(whole.at(min(rank(p, n), whole.n))), float64(max(hi, whole.at(u)))
			out.Hi = h.reach(&out, value, above, factor, s.blocks)
		}
		if math.IsInf(out.Hi, 1) && hi != math.MaxInt64 || math.IsInf(out.Lo, -1) && lo != math.MinInt64 {
			out.NeedHold = max(out.NeedHold, h.Seconds*max(1.5, 2*least*factor/float64(n)))
		}
	}
	return h.judge(out, s).orDrifting(t, orInfinite(lo), orInfinite(hi), float64(n))
}

func orInfinite(v int64) float64 {
	switch v {
	case math.MinInt64:
		return math.Inf(-1)
	case math.MaxInt64:
		return math.Inf(1)
	}
	return float64(v)
}

// stretchedRanks returns the ranks of Bounds for n values that tell as much as n/factor independent
// ones; below 1 and above n there is no such value.
func stretchedRanks(n int64, factor, q, confidence float64) (l, u int64) {
	few := max(1, int64(float64(n)/factor))
	l, u = boundRanks(few, q, confidence)
	if u > few {
		u = n + 1
	} else {
		u = int64(math.Ceil(float64(u) * factor))
	}
	if l >= 1 {
		l = int64(float64(l-1)*factor) + 1
	}
	return l, u
}

// Mean returns the interval of the mean of whole, of which t holds the parts, by Student's distribution
// corrected for skewness.
func (h Hold) Mean(whole *Dist, t *Table, confidence float64) Interval {
	out, s := h.start(float64(whole.n), t)
	mean, std := whole.Mean(), whole.Std()
	lo0, hi0, ok := MeanBounds(mean, std, whole.n, confidence)
	if !ok || out.Refused != Known {
		out.Refused = FewParts
		return out
	}
	out.Lo, out.Hi = lo0, hi0
	n := t.total()
	if std > 0 {
		x := series{t.sums(), t.sizes()}
		times, b := s.times(x, n*std*std)
		factor := out.count(times, b, confidence)
		lo, above := skewed(mean, std*math.Sqrt(times/n), skewness(x.errs()), b, confidence)
		out.Lo = min(out.Lo, lo)
		out.Hi = h.reach(&out, mean, max(hi0, above), factor, s.blocks)
	}
	return h.judge(out, s).orDrifting(t, lo0, hi0, n)
}

// fewHits is the number of requests on one side of a ratio below which their own spread tells little.
const fewHits = 30

// Ratio returns the interval of a share of requests: k of n in each part. Few hits, or none, do not show
// that they come together, such as timeouts in a long queue that hold did not see; the metric beside does.
func (h Hold) Ratio(k, n []int64, confidence float64) Interval {
	x := series{floats(k), floats(n)}
	hits, all := x.totals()
	out, s := h.start(all, nil)
	lo, hi, ok := ClopperPearson(int64(hits), int64(all), confidence)
	if out.Parts = len(k); !ok || len(k) < minParts {
		out.Refused = FewParts
		return out
	}
	out.Refused, out.Lo, out.Hi = Known, lo, hi
	if min(hits, all-hits) < fewHits {
		s.spreads = s.beside
	}
	mixed := hits > 0 && hits < all
	b := cosines(s.blocks, len(k))
	times := s.widen(s.timesOfOthers(b))
	if mixed {
		times, b = s.times(x, hits*(1-hits/all))
	}
	if factor := out.count(times, b, confidence); factor > 1 && (mixed || times > 1) {
		lo, hi = clopperPearson(hits/factor, all/factor, confidence)
		out.Lo, out.Hi = min(lo, out.Lo), max(hi, out.Hi)
	}
	return h.judge(out, s)
}

// Rate returns the interval of what is counted per second.
func (h Hold) Rate(counts []int64, confidence float64) Interval {
	x := series{floats(counts), make([]float64, len(counts))}
	for i := range x.den {
		x.den[i] = h.Seconds / float64(len(counts))
	}
	all, _ := x.totals()
	out, s := h.start(all, nil)
	if out.Parts = len(counts); all == 0 || len(counts) < minParts {
		out.Refused = FewParts
		return out
	}
	out.Refused = Known
	times, b := s.times(x, all) // independent requests: a Poisson process
	out.count(times, b, confidence)
	err := math.Sqrt(times*all) / h.Seconds
	out.Lo, out.Hi = skewed(all/h.Seconds, err, skewness(x.errs()), b, confidence)
	out.Lo = max(0, out.Lo)
	return h.judge(out, s)
}

func floats(list []int64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

// clopperPearson is ClopperPearson of numbers that need not be whole.
func clopperPearson(k, n, confidence float64) (lo, hi float64) {
	half := (1 - confidence) / 2
	lo, hi = 0, 1
	if k > 0 {
		lo = solve(0, 1, func(q float64) bool { return betaRegularised(k, n-k+1, q) > half })
	}
	if k < n {
		hi = solve(0, 1, func(q float64) bool { return 1-betaRegularised(k+1, n-k, q) <= half })
	}
	return lo, hi
}

// skewed returns Student's interval of a mean with the standard error given, moved by the skewness of
// its estimate as its first Edgeworth term demands (Johnson, "Modified t Tests and Confidence Intervals
// for Asymmetrical Populations", JASA 73, 1978; Willink, Communications in Statistics 34, 2005). The
// inverse that both take of it is left out, as it grows without bound in short runs. Of heavy tails a run
// shows too little skewness, so the upper bound moves by more of it, by the simulation.
func skewed(mean, err, skew float64, b int, confidence float64) (lo, hi float64) {
	t := StudentT((1+confidence)/2, float64(b))
	shift := skew / 6 * (1 + 2*t*t)
	return mean - max(t-shift, t/2)*err, mean + max(t+1.2*shift, t/2)*err
}

// count notes how many independent requests tell as much, if the variance is `times` that of independent
// ones. It returns by what factor the bounds need more requests, Student's distribution with b degrees of
// freedom for the normal one included.
func (i *Interval) count(times float64, b int, confidence float64) (factor float64) {
	i.Effective = max(1, i.Effective/max(1, times))
	half := (1 + confidence) / 2
	z := normalQuantile(half)
	if z < 1e-6 {
		return max(1, times)
	}
	t := StudentT(half, float64(b)) / z
	return max(1, times*t*t)
}

// maxReach is the relative distance of an upper bound beyond which there is none, and longReach that
// beyond which it no longer stretches in a long hold.
const (
	maxReach  = 0.75
	longReach = 0.9
)

// In a hold of longHold blocks an upper bound far above its value is a bound, and no sign that hold saw
// too few queues. Where it amounts to nearlyEnough of the fewest independent requests that have an order
// statistic there, its largest value is taken for that, as reach moves the bound beyond it. By the
// simulation.
const (
	longHold     = 30
	nearlyEnough = 0.7
)

// reach moves the upper bound of a value of dependent requests up. Near capacity the spread of a queue's
// times grows as their square, so that a run with few long queues shows too little of both; 1/value has
// an even spread, and gives value/(1-r) for a distance of r. The part of r that independent requests
// would have too stays as it is.
func (h Hold) reach(out *Interval, value, above, factor, blocks float64) float64 {
	if value <= 0 {
		return above
	}
	r := above/value - 1
	w := r * (1 - 1/factor)
	switch {
	case blocks >= longHold:
		w = min(w, longReach)
	case w > maxReach:
		out.NeedHold = h.Seconds * min(100, r*r/(maxReach*maxReach/4))
		return math.Inf(1)
	}
	return value * (1 + r/(1-w))
}

// minBlocks is how many times as long as requests depend on each other hold is at least: below, parts
// tell neither the time nor the spread. Above, widen allows for what they do not tell.
const minBlocks = 5

// judge refuses bounds that cannot be believed.
func (h Hold) judge(out Interval, s *shape) Interval {
	switch {
	case s.blocks < 100: // else the correlation of neighbours may be chance
		out.Depend = h.Seconds / s.blocks
	case out.Effective < s.requests/1.5:
		out.Depend = h.Seconds / out.Effective
	}
	switch {
	case s.trend: // it looks like dependence too, which it is not
		out.Refused, out.Slope, out.Settled = Trending, s.slope, s.settled
		out.Depend, out.NeedHold = 0, 0
	case s.blocks < minBlocks:
		out.Refused = Dependent
		out.NeedHold = h.Seconds * 10 * minBlocks / s.blocks
	default:
		return out
	}
	out.Lo, out.Hi = math.Inf(-1), math.Inf(1)
	return out
}

// A latency that drifts little shows no queue: where requests wait for each other their times vary by
// themselves. Its parts differ by the state of the machine, and so does the next hold; driftReach times
// their standard deviation is a bound for it.
const (
	littleDrift = 0.05
	driftReach  = 4
)

// drifts reports whether the means of the parts of a latency differ so little, and by how much.
func (t *Table) drifts() (drift float64, little bool) {
	drift = series{t.sums(), t.sizes()}.drift()
	return drift, drift <= littleDrift
}

// orDrifting narrows an interval, or gives one in place of a refusal, if the metric drifts little: to the
// bounds lo and hi of n independent requests, further apart by the drift. A percentile's requests come
// together then, as those beyond it are those of the slower parts, and by the same small amount.
func (i Interval) orDrifting(t *Table, lo, hi, n float64) Interval {
	drift, little := t.drifts()
	if !little || i.Refused != Known && i.Refused != Dependent {
		return i
	}
	lo, hi = lo*(1-driftReach*drift), hi*(1+driftReach*drift)
	if i.Lo >= lo && i.Hi <= hi {
		return i
	}
	i.Refused, i.Lo, i.Hi = Known, max(i.Lo, lo), min(i.Hi, hi)
	i.Effective, i.Depend, i.NeedHold = n, 0, 0
	return i
}

// start returns the interval of n requests, and the shape of their parts and of those beside.
func (h Hold) start(n float64, t *Table) (Interval, *shape) {
	out := Interval{Lo: math.Inf(-1), Hi: math.Inf(1), Effective: n, Parts: t.Parts()}
	s := &shape{blocks: math.Inf(1), seconds: h.Seconds, requests: n}
	if t.Parts() < minParts || t.total() == 0 {
		out.Refused = FewParts
	} else {
		s.learn(t, true)
	}
	if h.Beside != t && h.Beside.Parts() >= minParts && h.Beside.total() > 0 {
		if _, little := h.Beside.drifts(); !little {
			s.learn(h.Beside, false)
		}
	}
	return out, s
}
