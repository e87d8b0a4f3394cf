package trial

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
)

// same is n values of v.
func same(n int, v time.Duration, others ...time.Duration) *stats.Dist {
	d := new(stats.Dist)
	for range n {
		d.Add(int64(v))
	}
	for _, o := range others {
		d.Add(int64(o))
	}
	return d
}

// fit is the health of an open loop in which nothing is wrong.
func fit() *health {
	return &health{
		open: true, waits: true, paused: 0.1, transport: "http", offered: 200, slots: 64, limit: int64(time.Millisecond),
		own: same(1000, 40*time.Microsecond), service: same(1000, 20*time.Millisecond),
		use:    observe.Use{Wall: int64(5 * time.Second), Share: 0.12, Starved: 0},
		Played: drive.Played{Planned: 1000, Sent: 1000, PeakInFlight: 9},
	}
}

// TestJudge: each cause is found, alone and with others: a late client, a full pool, a
// slow server, a machine that is busy or too small.
func TestJudge(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		name string
		is   func(*health)
		want string // codes; those that invalidate have a !
		say  []string
		not  []string
	}{
		{
			"nothing is wrong", func(*health) {}, "",
			[]string{
				"This client was not the bottleneck.", "40 µs (p99; up to 1 ms is allowed)",
				"used 12.0 % of its CPU time", "at most 9 of 64", "nothing paused",
			},
			[]string{"What to change", "calibration"},
		},
		{
			"late", func(h *health) { h.own = same(980, 0, slices.Repeat([]time.Duration{3 * ms}, 20)...) },
			"client-late",
			[]string{
				"was late, so these numbers have bounds: it sent 20 of 1000 requests late by itself, " +
					"by at most 3 ms",
				"3 ms (p99; up to 1 ms is allowed)", "because it was woken too late",
				"lower the load or use a faster or quieter machine",
			},
			[]string{"slots", "server is too slow"},
		},
		{"late, but slower servers allow more", func(h *health) {
			h.own, h.limit, h.service = same(1000, 3*ms), int64(10*ms), same(1000, time.Second)
		}, "", []string{"was not the bottleneck", "3 ms (p99; up to 10 ms is allowed)"}, nil},
		{
			"two late of few", func(h *health) { h.own = same(98, 0, 9*ms, 9*ms) }, "client-late",
			[]string{"it sent 2 of 100 requests late", "third-largest"},
			nil,
		},
		{
			"three late of few", func(h *health) { h.own = same(97, 0, 9*ms, 9*ms, 9*ms) }, "client-late",
			[]string{"9 ms (third-largest"},
			nil,
		},
		{
			"near the limit of lateness", func(h *health) { h.own = same(1000, 700*time.Microsecond) },
			"client-near-limit",
			[]string{"may be part of these numbers: the p99 of its own send delay is 700 µs"},
			[]string{"was not the bottleneck"},
		},
		{
			"out of CPU", func(h *health) { h.use.Share = 0.93 }, "client-cpu!",
			[]string{"was the bottleneck", "93 % of its CPU time (allowed 85 %)", "more cores"},
			nil,
		},
		{
			"near the limit of CPU", func(h *health) { h.use.Share = 0.7 }, "client-near-limit",
			[]string{"may be part of these numbers: 70 % of its CPU time"},
			nil,
		},
		{
			"CPU in so short a hold says nothing",
			func(h *health) { h.use = observe.Use{Wall: int64(50 * ms), Share: 3} }, "",
			[]string{"was not the bottleneck", "CPU time is not known"},
			nil,
		},
		{"CPU unknown", func(h *health) { h.use.Share = -1 }, "", []string{"CPU time is not known"}, nil},
		{
			"late for want of CPU", func(h *health) { h.use.Share, h.own = 0.99, same(1000, 5*ms) },
			"client-cpu! client-late",
			[]string{
				"it used 99 % of its CPU time (allowed 85 %); it sent 1000 of 1000 requests late by itself, by at " +
					"most 5 ms, because its CPU time was used up.",
				"What to change: lower the load or use more cores. ",
			},
			[]string{"quieter"},
		},
		{
			"late because of others",
			func(h *health) { h.use.Starved, h.own = int64(2*time.Second), same(1000, 5*ms) },
			"client-late busy-machine",
			[]string{"because other programs had the CPU", "a machine that does nothing else"},
			[]string{"lower the rate"},
		},
		{
			"others for a moment",
			func(h *health) { h.use = observe.Use{Wall: int64(30 * ms), Starved: int64(15 * ms)} }, "",
			[]string{"was not the bottleneck"},
			nil,
		},
		{
			"others alone", func(h *health) { h.use.Starved = int64(2 * time.Second) }, "busy-machine",
			[]string{"This machine may be part of these numbers: its programs waited for a CPU during 40 % of hold"},
			nil,
		},
		{
			"other virtual machines", func(h *health) { h.use.Stolen = 0.124 }, "stolen-time",
			[]string{"part of these numbers: 12.4 % of its CPU time went to other virtual machines", "its own"},
			nil,
		},
		{
			"late because of other virtual machines",
			func(h *health) { h.use.Stolen, h.own = 0.124, same(1000, 5*ms) }, "client-late stolen-time",
			[]string{"other virtual machines had the CPU"},
			[]string{"lower the rate"},
		},
		{
			"other virtual machines for a few ticks",
			func(h *health) { h.use = observe.Use{Wall: int64(100 * ms), Stolen: 0.1} }, "",
			[]string{"was not the bottleneck"},
			nil,
		},
		{
			"out of sockets", func(h *health) { h.sockets = 7 }, "sockets!",
			[]string{"was the bottleneck", "descriptors, ports or memory for 7 requests", "ulimit -n"},
			nil,
		},
		{
			"paused", func(h *health) { h.Paused = 3 }, "paused!",
			[]string{"paused sending 3 times", "it paused 3 times"},
			[]string{"nothing paused"},
		},
		{
			"late because it paused", func(h *health) { h.Paused, h.own = 3, same(1000, 5*ms) },
			"paused! client-late",
			[]string{"because it was busy with its own samples"},
			nil,
		},
		{
			"stood still for moments",
			func(h *health) { h.pauses = standstills{3, int64(200 * ms), int64(5 * time.Second)} },
			"client-paused",
			[]string{"was late, so these numbers have bounds: it stood still 3 times, 200 ms in all"},
			[]string{"lower the rate"},
		},
		{
			"stood still for too long",
			func(h *health) { h.pauses = standstills{3, int64(600 * ms), int64(5 * time.Second)} },
			"paused-share! client-paused",
			[]string{"was the bottleneck", "stood still for 12 % of hold (allowed 10 %)"},
			nil,
		},
		{
			"stood still in a short hold",
			func(h *health) { h.pauses = standstills{4, int64(240 * ms), int64(time.Second)} },
			"client-paused",
			[]string{"it stood still 4 times, 240 ms in all"},
			nil,
		},
		{
			"too late to be recorded", func(h *health) { h.lost = 7 }, "lost-delays!",
			[]string{"7 late sends were not recorded"},
			nil,
		},
		{
			"stood still", func(h *health) { h.still = 3 * time.Second }, "stood-still!",
			[]string{"it stood still for 3s", "does nothing else"},
			nil,
		},
		{"a full pool before a slow server", func(h *health) {
			h.offered, h.service, h.WaitedPool = 2000, same(1000, 40*ms), 120
		}, "pool-full", []string{
			"was not the bottleneck",
			"120 of 1000 requests waited for a free slot, which is not the client's doing",
			"mean service time of 40 ms about 80 are in flight: the server is too slow for this rate in so few; " +
				"raise max_in_flight",
		}, nil},
		{
			"a full pool before a burst", func(h *health) { h.WaitedPool = 5 }, "pool-full",
			[]string{"about 4 are in flight: they came at once, or the server stopped answering"},
			[]string{"too slow"},
		},
		{
			"sessions that pause in a full pool",
			func(h *health) { h.begins, h.offered, h.WaitedPool, h.HeldByPauses = true, 5000, 120, 60 }, "pool-full",
			[]string{"up to 60 of the slots were those of sessions that paused between two turns", "raise max_in_flight"},
			[]string{"too slow", "stopped answering", "are in flight"},
		},
		{
			"sequences in a full pool",
			func(h *health) { h.begins, h.offered, h.WaitedPool = true, 5000, 120 }, "pool-full",
			[]string{"keeps its slot from its first request to the end of its last", "raise max_in_flight"},
			[]string{"too slow", "stopped answering", "between two turns"},
		},
		{
			"stray replies", func(h *health) { h.Strays = 2 }, "stray-replies",
			[]string{"was not the bottleneck"},
			nil,
		},
		{
			"drops", func(h *health) { h.DroppedPool = 5 }, "pool-full",
			[]string{"5 of 1000 requests were dropped for want of a slot"},
			nil,
		},
		{
			"a pool without an answer",
			func(h *health) { h.service, h.WaitedPool = new(stats.Dist), 5 },
			"pool-full",
			[]string{"the server answered none of them"},
			nil,
		},
		{
			"late and a full pool are two things",
			func(h *health) { h.own, h.WaitedPool = same(1000, 5*ms), 5 }, "client-late pool-full",
			[]string{"was late", "not the client's doing"},
			nil,
		},
		{
			"a closed loop",
			func(h *health) { h.open, h.waits, h.own, h.PeakInFlight = false, false, new(stats.Dist), 64 },
			"",
			[]string{"was not the bottleneck", "A closed loop waits for the server", "at most 64 of 64"},
			[]string{"send delay"},
		},
		{
			"a closed loop that was never full", func(h *health) { h.open, h.waits, h.own = false, false, new(stats.Dist) },
			"never-reached-concurrency", nil, nil,
		},
		{
			"a closed loop that was cut short",
			func(h *health) { h.open, h.waits, h.own, h.cut = false, false, new(stats.Dist), true }, "", nil, nil,
		},
		{"a server in this process", func(h *health) {
			h.open, h.waits, h.inProcess, h.own = false, false, true, same(1000, 90*time.Microsecond)
			h.use.Share, h.PeakInFlight = -1, 64
		}, "server-in-this-process", []string{
			"was not the bottleneck",
			"Its own time from a reply to the next send was 90 µs (p99; up to 1 ms is allowed)",
			"cannot be told from that of the server",
		}, []string{"closed loop waits"}},
		{
			"a server in this process and an open loop",
			func(h *health) { h.inProcess, h.use.Share = true, -1 },
			"server-in-this-process",
			[]string{"was not the bottleneck", "Its own send delay was 40 µs", "cannot be told"},
			nil,
		},
		{
			"late after replies of a server in this process that is slow", func(h *health) {
				h.open, h.waits, h.inProcess, h.own = false, false, true, same(1000, 3*ms)
				h.use.Share, h.PeakInFlight = -1, 64
			}, "server-in-this-process",
			[]string{"was not the bottleneck", "3 ms (p99; up to 1 ms is allowed)"},
			nil,
		},
		{"late after replies of a server in this process", func(h *health) {
			h.service = same(1000, 9*ms)
			h.open, h.waits, h.inProcess, h.own = false, false, true, same(1000, 3*ms)
			h.use.Share, h.PeakInFlight = -1, 64
		}, "slots-empty! server-in-this-process", []string{
			"was the bottleneck", "p99 3 ms, allowed 1 ms",
			"because the server, in the same process, had the CPU",
			"use more cores",
		}, []string{"lower the rate"}},
		{"slots that are empty beside a fast server in this process", func(h *health) {
			h.open, h.waits, h.inProcess, h.own = false, false, true, same(1000, 90*time.Microsecond)
			h.use.Share, h.PeakInFlight = -1, 64
			h.service = same(1000, 30*time.Microsecond)
		}, "client-near-limit server-in-this-process", []string{
			"may be part of these numbers: 75 % of the time of its slots passed between a reply and the next send",
		}, nil},
		{"sequences whose server in this process sent nothing twice", func(h *health) {
			h.open, h.waits, h.inProcess, h.own = false, false, true, new(stats.Dist)
			h.use.Share, h.PeakInFlight = -1, 64
		}, "server-in-this-process", []string{"was not the bottleneck"}, nil},
		{
			"nothing was sent", func(h *health) { h.Played, h.own = drive.Played{}, new(stats.Dist) }, "",
			[]string{"Nothing was sent"},
			[]string{"bottleneck"},
		},
		{
			"less than the machine has shown", func(h *health) { h.machine = shown() }, "",
			[]string{"shown that it sends up to 5000/s over http on time"},
			nil,
		},
		{
			"more than the machine has shown", func(h *health) { h.machine, h.offered = shown(), 9000 }, "",
			[]string{"It asked for 9000/s, and this machine has shown no more than 5000/s over http"},
			nil,
		},
		{"more slots than the machine has shown", func(h *health) {
			h.machine, h.open, h.waits, h.own, h.slots, h.PeakInFlight = shown(), false, false, new(stats.Dist), 300, 300
		}, "", []string{
			"It asked for 300 requests in flight, and this machine has shown no more than 256 over http",
		}, nil},
		{
			"another transport than was shown",
			func(h *health) { h.machine, h.transport = shown(), "grpc" }, "", nil,
			[]string{"shown"},
		},
		{
			"another machine's calibration",
			func(h *health) { h.machine = &program.Machine{Other: "it was made on a machine with 64 cores"} }, "",
			[]string{"The calibration that there is says nothing here: it was made on a machine with 64 cores."},
			nil,
		},
	} {
		h := fit()
		row.is(h)
		v := result.Validity{OK: true}
		h.judge(&v)
		var codes []string
		ok := true
		for _, f := range v.Findings {
			code := f.Code
			if f.Severity == result.Invalidating {
				code, ok = code+"!", false
			}
			codes = append(codes, code)
		}
		if got := strings.Join(codes, " "); got != row.want || v.OK != ok {
			t.Errorf("%s: findings %q (ok %v), want %q", row.name, got, v.OK, row.want)
		}
		for _, say := range row.say {
			if !strings.Contains(v.Summary, say) {
				t.Errorf("%s: %q is not in\n%s", row.name, say, v.Summary)
			}
		}
		for _, not := range row.not {
			if strings.Contains(v.Summary, not) {
				t.Errorf("%s: %q is in\n%s", row.name, not, v.Summary)
			}
		}
	}
}

func shown() *program.Machine {
	return &program.Machine{Shown: map[string]program.Shown{"http": {Rate: 5000, Slots: 256, Highest: 30000}}}
}
