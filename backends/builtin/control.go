package builtin

import (
	"net/http"
	"strconv"
	"sync/atomic"
)

// connections counts accepted connections.
type connections struct{ HTTP, GRPC, Control atomic.Uint64 }

// countReply holds the counts since the start or the last reset.
type countReply struct {
	Arrivals    uint64           `json:"arrivals"`
	Connections connectionCounts `json:"connections"`
	Results     resultCounts     `json:"results"`
	Sequences   sequenceCounts   `json:"sequences"`
}

type connectionCounts struct {
	HTTP uint64 `json:"http"`
	GRPC uint64 `json:"grpc"`
}

// resultCounts counts inference requests by outcome; running ones are not counted.
type resultCounts struct {
	OK        uint64 `json:"ok"`
	Invalid   uint64 `json:"invalid"`   // refused: unknown model, wrong inputs
	Failed    uint64 `json:"failed"`    // simulated failure
	Reset     uint64 `json:"reset"`     // simulated reset
	Rejected  uint64 `json:"rejected"`  // queue full, or shutting down
	Cancelled uint64 `json:"cancelled"` // the client left first
}

// control adds the endpoints of the simulation, which the inference listener serves too:
//
//	GET  /sim/arrivals?from=N   arrivalsPage
//	GET  /sim/responses         responseTimes: of streams, and of the generate extension
//	GET  /sim/count             countReply
//	POST /sim/reset             clears arrivals and counts, and restarts stalls, faults and draws
func (s *Server) control(mux *http.ServeMux) {
	mux.HandleFunc("GET /sim/arrivals", func(w http.ResponseWriter, r *http.Request) {
		from := uint64(0)
		if v := r.URL.Query().Get("from"); v != "" {
			var err error
			if from, err = strconv.ParseUint(v, 10, 64); err != nil {
				writeFailure(w, invalid("from=%s is no count", v))
				return
			}
		}
		writeJSON(w, http.StatusOK, s.arrivals.page(from))
	})
	mux.HandleFunc("GET /sim/count", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, s.counts())
	})
	mux.HandleFunc("GET /sim/responses", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, s.sendings.list(s.arrivals.start()))
	})
	mux.HandleFunc("POST /sim/reset", func(http.ResponseWriter, *http.Request) { s.reset() })
}

func (s *Server) counts() countReply {
	r := &s.results
	var q sequenceCounts
	for _, m := range s.order {
		q.add(m.sequences)
	}
	return countReply{
		Sequences:   q,
		Arrivals:    s.arrivals.count(),
		Connections: connectionCounts{s.conns.HTTP.Load(), s.conns.GRPC.Load()},
		Results: resultCounts{
			OK: r.OK.Load(), Invalid: r.Invalid.Load(), Failed: r.Failed.Load(),
			Reset: r.Reset.Load(), Rejected: r.Rejected.Load(), Cancelled: r.Cancelled.Load(),
		},
	}
}

// reset is for a server between two runs: requests in flight may count on either side. Triton's
// statistics continue, as they do on a real server.
func (s *Server) reset() {
	s.arrivals.reset()
	s.sendings.reset()
	s.faults.reseed(s.config.Seed)
	for _, m := range s.order {
		m.queue.reseed(m.random(s.config.Seed))
		m.sequences.reset()
	}
	r := &s.results
	for _, n := range []*atomic.Uint64{
		&r.OK, &r.Invalid, &r.Failed, &r.Reset, &r.Rejected, &r.Cancelled, &s.conns.HTTP, &s.conns.GRPC,
	} {
		n.Store(0)
	}
}
