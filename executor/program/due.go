package program

import (
	"math"

	"github.com/sluice-bench/sluice/executor/load"
)

// What is known of the due times of an open loop before it runs: its arrivals without chance.

// mostWalked bounds the arrivals that are played to find out when one of them is due.
const mostWalked = 1 << 20

// even returns the arrivals of an open loop at the same rates without chance, from the beginning of
// its warm-up; nil: they are not known.
func (l *Load) even() load.Schedule {
	if l.arrivals == nil {
		return nil
	}
	return l.arrivals(0, l.seed)
}

// openRamp reports whether a load is an open loop along a known ramp.
func (l *Load) openRamp() bool { return l.Ramp != nil && l.arrivals != nil }

// lastOf returns the last arrival of a schedule that ends.
func lastOf(s load.Schedule) (last int64) {
	for due, ok := s.Next(); ok; due, ok = s.Next() {
		last = due
	}
	return last
}

// count returns how many requests are due from from and before to, ns from the start of the node;
// to -1: up to the end of the schedule. -1: not known.
func (l *Load) count(from, to int64) float64 {
	if l.arrivals == nil {
		return -1
	}
	if to < 0 {
		to = math.MaxInt64
	}
	return float64(load.Count(l.even(), from, to))
}

// sd returns the standard deviation of a count of arrivals; 0: there is none, or they are not known.
func (l *Load) sd(count float64) float64 {
	if l.Stored.Exact || l.arrivals == nil {
		return 0
	}
	return l.Stored.CV * math.Sqrt(max(count, 0))
}

// due returns when arrival k (from 0) is due, ns; false: not known.
func (l *Load) due(k int64) (int64, bool) {
	if l.arrivals == nil || k > mostWalked {
		return 0, false
	}
	s := l.even()
	for ; k > 0; k-- {
		if _, ok := s.Next(); !ok {
			return 0, false
		}
	}
	return s.Next()
}
