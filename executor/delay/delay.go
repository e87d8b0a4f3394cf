// Package delay bounds what a late client does to the numbers that it measures.
//
// A client that sends late, or that stands still while replies arrive, changes latencies by a limited
// amount. FIFO servers are monotone and non-expansive in their arrivals (Lindley's recursion; max-plus
// linear systems: Baccelli, Cohen, Olsder and Quadrat, Synchronization and Linearity, 1992): what a
// client on time would have measured is in [m - E - R, m]. Batching and processor sharing are neither,
// so intervals are wider; the simulation in this package's tests counts what lies outside.
//
// A closed loop sends late only after a pause, or where its slots wait for due times (users, think times), and
// has an E of its own (Timeline.Of).
//
//	rows      low              high
//	due       m - 4E - R       1.02 m + E′
//	sent      m - 4E - R       1.02 m + 2E′
//	gap       m - 5E - R       m + 3E′ + R
//
// The high side, on which a pass rests, may forget after two slices; the low side, on which a fail
// rests, may not.
//
// R is known from a heartbeat alone. Receive stamps of the kernel (SO_TIMESTAMPING) would replace it for
// one's own sockets, and narrow nothing in an open loop: a pause delays sends too, so that E outweighs it. Of
// 1,816 verdicts on simulated runs with pauses in replies, on limits that the truth breaks or keeps by half,
// 1,014 are open with R, and as many with an R of 0. Times are ns on the run clock. The package starts no goroutines.
package delay

// Limits of a client on time, unless a plan has others. Below them a delay or a pause counts as none.
const (
	SendLimit  = int64(1e6)   // of one's own send delay; at least 1 % of the median service time
	PauseLimit = int64(20e6)  // by which a beat may come late
	BeatEvery  = int64(5e6)   // between two beats
	BlurShare  = 0.01         // of the requests; where more are sent late, what has no bound is unknown
	slotLength = int64(100e6) // the least length of a slice
	perService = 4            // median service times in a slice
)

// Limits hold the longest own send delay, and the most by which a beat may come late, of a player on time,
// ns; 0 means SendLimit and PauseLimit.
type Limits struct{ Send, Pause int64 }

// Delay holds what a late client may have done to one request, ns. The zero Delay is that of a client
// on time.
type Delay struct {
	// E is the largest own send delay among the requests that were sent since the client was last
	// idle, up to the end of this one.
	E int64
	// Recent is E′: the largest own send delay in the slice in which the request was sent and in the
	// one before; of a closed loop also the longest pause before it that ended in them.
	Recent int64
	R      int64 // longest part of a pause of the client that lies within the request
}

// IsZero reports whether the client was on time as far as this request is concerned.
func (d Delay) IsZero() bool { return d == Delay{} }

// Due returns the interval of a time from when a request was due.
func (d Delay) Due(m int64) (low, high int64) { return d.reply(m, d.Recent) }

// Sent returns the interval of a time from when a request was sent.
func (d Delay) Sent(m int64) (low, high int64) { return d.reply(m, 2*d.Recent) }

// reply returns an interval. No reply takes no time: it is over a limit of 0.
func (d Delay) reply(m, more int64) (low, high int64) {
	return min(m, max(m-4*d.E-d.R, 1)), max(m, m+m/50+more)
}

// Gap returns the interval of a time between two replies of a request; as for replies, it is over a limit
// of 0 if what was measured is.
func (d Delay) Gap(m int64) (low, high int64) {
	return min(m, max(m-5*d.E-d.R, 1)), m + 3*d.Recent + d.R
}
