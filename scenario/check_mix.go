package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
)

// mix checks the kinds of request that share a stage.
func (c *stageChecks) mix(s *language.Stage) {
	if s.Mix == nil || c.Doubtful(s.Mix.At.Path) {
		return
	}
	entries := s.Mix.Items()
	var weighted, bare []language.Item[language.Mix]
	for _, e := range entries {
		c.request(s, e.Value.At, e.Value.Request, true)
		if e.Value.Weight == nil {
			bare = append(bare, e)
		} else {
			weighted = append(weighted, e)
		}
	}
	if len(weighted) > 0 && len(bare) > 0 {
		c.under(
			s.Mix.At, bare[0].Key,
			missing("%q has no weight, and %q has one", bare[0].Key,
				weighted[0].Key).
				Help("give all entries a weight, which are drawn then, or none, which take turns"),
		)
	}
}

// checkSequences checks how requests form sequences.
func checkSequences(c *checker, s *language.Stage) {
	q := s.Play.Sequences
	if q == nil {
		return
	}
	checkLength(c, q.Length, 1)
	checkIdentities(c, s, q)
	switch l := s.Play.Load; {
	case l == nil || q.At.Node.Entry("live") == nil:
	case l.Concurrency != nil:
		c.under(q.At, "live", doesNotFit("\"live\" does not fit \"concurrency\"").
			Help("in a closed loop the concurrency is the number of live sequences"))
	case l.Of.Or("") == "sequences":
		c.under(q.At, "live", doesNotFit("\"live\" does not fit `of: sequences`").
			Help("there the rate decides how many are open at a time, `max_in_flight` at most"))
	}
	if q.IDs != nil && q.IDs.From != nil && q.IDs.To != nil && q.IDs.To.V < q.IDs.From.V {
		c.at(q.IDs.To.At, outOfRange("\"to\" is below \"from\""))
	}
}

// checkIdentities refuses a range of ids that has fewer than there are sequences at a time, where both are
// written.
func checkIdentities(c *checker, s *language.Stage, q *language.Sequences) {
	if q.IDs == nil || q.IDs.From == nil || q.IDs.To == nil || s.Play.Load == nil ||
		q.IDs.To.V < q.IDs.From.V {
		return
	}
	size, most, what := q.IDs.To.V-q.IDs.From.V+1, int64(0), "live sequences"
	switch l := s.Play.Load; {
	case l.Concurrency != nil:
		most = highest(l.Concurrency)
	case l.Of.Or("") == "sequences" && l.MaxInFlight != nil:
		most, what = l.MaxInFlight.V, "of `max_in_flight`"
	case q.Live != nil:
		most = q.Live.V
	}
	if size < most {
		c.at(q.IDs.At,
			outOfRange("%d ids are fewer than the %d %s: two would have one id", size, most,
				what).Help("widen the range with `from` and `to`"))
	}
}

// highest is the largest number of requests in flight that is written in the plan.
func highest(q *language.Slots) (most int64) {
	for _, v := range amounts(q) {
		if v != nil {
			most = max(most, v.V.V)
		}
	}
	for _, v := range q.Many {
		most = max(most, v.V)
	}
	if l := q.Levels; l != nil && l.From != nil {
		for _, v := range l.Values() {
			most = max(most, int64(v))
		}
	}
	if p := q.More.Periodic; p != nil && p.To != nil {
		most = max(most, p.To.V)
	}
	return most
}

// checkSteadyLoad refuses to wait for a load to settle that is meant to change.
func checkSteadyLoad(c *checker, s *language.Stage) {
	load, word := s.Play.Load, "stable"
	if load == nil {
		return
	}
	if s.Play.Until.Precise != nil {
		word = "precise"
	}
	for _, key := range [...]string{"concurrency", "rate"} {
		q := load.At.Node.Get(key)
		for _, form := range [...]string{"ramp", "periodic"} {
			if q.Get(form) != nil {
				c.at(s.Play.Until.At,
					doesNotFit("`until: %s` does not fit %q: its load changes all the time", word,
						form).Help("leave out `until`, or cut the load with `for`"))
			}
		}
	}
}

// checkAssertions checks the options of a stage's assertions against what the stage is.
func checkAssertions(c *checker, s *language.Stage) {
	var length time.Duration
	if s.Play.For != nil {
		length = s.Play.For.V.Duration
	}
	for _, a := range s.Play.Assert {
		checkAssertion(c, a, length)
	}
}

// checkAssertion checks one assertion; length is that of its stage, 0 where it is not known.
func checkAssertion(c *checker, a *language.Assertion, length time.Duration) {
	checkConfidence(c, a.Confidence)
	if v := a.Allow; v != nil && v.V >= 1 {
		c.at(v.At, outOfRange("allow must be below 100%%: nothing could fail"))
	} else if v != nil && v.V > 0 && a.Within != nil { // what is true from then on is true in each window
		c.at(v.At,
			doesNotFit("`allow` does not fit `within`, which is true in every window from then on").
				Help("use `every` with `allow`, or `within` with or without `every`"))
	}
	for _, v := range [...]*language.Val[time.Duration]{a.Every, a.Within} {
		if v != nil && length > 0 && v.V > length {
			c.at(v.At,
				outOfRange("%s %s is longer than the stage's %s", language.LastKey(v.At.Path), v.V, length))
		}
	}
}

func checkConfidence(c *checker, v *language.Val[language.Ratio]) {
	if v != nil && (v.V < 0.5 || v.V >= 1) {
		c.at(v.At, outOfRange("confidence must be from 50%% to below 100%%").
			Help("95% is usual"))
	}
}
