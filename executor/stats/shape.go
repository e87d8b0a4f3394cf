package stats

import "math"

// shape holds what the parts show of a process, for all of its statistics.
type shape struct {
	seconds, requests float64
	blocks            float64  // the fewest that a series shows
	spreads           []spread // of the metric itself
	beside            []spread // of the metric beside
	trend             bool
	slope, settled    float64 // as in Interval
}

// spread is a series and the variance that its sum would have if requests were independent.
type spread struct {
	errs        []float64
	independent float64
}

func (s spread) times(b int) float64 {
	if s.independent <= 0 {
		return 0
	}
	return variance(s.errs, b) / s.independent
}

// learn takes a metric into account by two series: its typical values and its median. own says that it
// is the metric asked for.
func (s *shape) learn(t *Table, own bool) {
	x, independent := t.typical()
	e := x.errs()
	s.blocks = min(s.blocks, blocks(s.detrend(x, e)))
	median, spreads := e, []spread{{e, independent}}
	if edge, above := t.edgeNear(0.5); edge >= 0 {
		median = series{t.above(edge), t.sizes()}.errs()
		spreads = append(spreads, spread{median, above * (1 - above/t.total())})
	}
	if own {
		s.spreads = spreads
	} else {
		s.beside = spreads
	}
	if !s.trend {
		s.blocks = min(s.blocks, blocks(median))
	}
}

// The number of cosines: those slow against the process, as many as hold is 5 times as long as requests
// depend on each other, so that the spectrum is flat over them.
const (
	blocksPerCosine = 5
	minCosines      = 6
	maxCosines      = 30
)

func cosines(blocks float64, parts int) int {
	return int(min(max(blocks/blocksPerCosine, minCosines), maxCosines, float64(parts/2)))
}

// others is the least ratio of the variance of a statistic, in multiples of that of independent requests,
// to those of the metric's typical values and median: a percentile beyond which there are few requests, in
// few queues, shows less than there is.
const others = 0.5

// times returns how many times the variance of independent requests that of a series is, from b cosines.
func (s *shape) times(x series, independent float64) (times float64, b int) {
	e := x.errs()
	if !s.trend {
		s.blocks = min(s.blocks, blocks(e))
	}
	b = cosines(s.blocks, len(e))
	return s.widen(max(spread{e, independent}.times(b), s.timesOfOthers(b))), b
}

// timesOfOthers returns what the other spreads of the metric say of times, from b cosines.
func (s *shape) timesOfOthers(b int) (times float64) {
	for _, o := range s.spreads {
		times = max(times, others*o.times(b))
	}
	return times
}

// doubt is the number of blocks at which the excess of a variance over that of independent requests is
// taken four times: its estimate depends on the length of hold, and a run that saw no long queue shows
// too little of it. By the simulation.
const doubt = 36

func (s *shape) widen(times float64) float64 {
	f := 1 + doubt/s.blocks
	return max(times, 1+(times-1)*f*f)
}

// A trend must be beyond doubt, as a run that has none shall not be refused for it, and so large that it
// matters.
const (
	trendRisk  = 1e-4
	trendLeast = 0.05 // of the value
)

// detrend looks for a trend in the errors e of a series, a slope or first parts that differ from the rest,
// and returns what is left of them without it. A process whose requests merely depend on each other still
// shows it there.
func (s *shape) detrend(x series, e []float64) []float64 {
	m := len(e)
	best, left := trend{}, e
	for _, c := range trends(m) {
		for i, w := range c.weights {
			c.size += w * e[i]
		}
		u := make([]float64, m)
		for i, w := range c.weights {
			u[i] = e[i] - c.size*w
		}
		b := cosines(blocks(u), m)
		// that of all cosines is less in error, and a lower limit as queues make neighbours alike
		v := max(variance(u, b), variance(u, m-1))
		c.t = math.Abs(c.size) / math.Sqrt(v/float64(m))
		if c.t > best.t && 2*(1-studentCDF(c.t, float64(b-1))) < trendRisk {
			best, left = c, u
		}
	}
	total, _ := x.totals()
	if best.t == 0 || total == 0 {
		return e
	}
	change := best.size * (best.weights[m-1] - best.weights[0]) / total * float64(m)
	if math.Abs(change) < trendLeast {
		return e
	}
	s.trend = true
	s.slope = change / s.seconds * float64(m) / float64(m-1)
	s.settled = s.seconds * float64(best.first) / float64(m)
	return left
}

// trend is a contrast of the parts: its weights sum to 0 and their squares to 1.
type trend struct {
	weights []float64
	first   int // parts that differ from the rest; 0: a slope
	size, t float64
}

// trends returns those that are looked for in m parts: a slope over all; first parts that differ from the
// rest all alike, or ever less.
func trends(m int) []trend {
	list := []trend{contrast(m, 0, func(i float64) float64 { return i })}
	for _, first := range []int{m / 12, m / 6, m / 3} {
		if first == 0 {
			continue
		}
		k := float64(first)
		list = append(list,
			contrast(m, first, func(i float64) float64 { return min(0, math.Floor(i/k)-1) }),
			contrast(m, first, func(i float64) float64 { return min(0, (i+0.5)/k-1) }))
	}
	return list
}

// contrast returns the contrast of a course, which rises.
func contrast(m, first int, course func(part float64) float64) trend {
	w := make([]float64, m)
	for i := range w {
		w[i] = course(float64(i))
	}
	mean, squares := deviations(w)
	for i := range w {
		w[i] = (w[i] - mean) / math.Sqrt(squares)
	}
	return trend{weights: w, first: first}
}
