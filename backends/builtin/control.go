package builtin

import (
	"net/http"
	"strconv"
	"sync/atomic"
)

// connections counts accepted connections.
type connections struct{ HTTP, GRPC, Control atomic.Uint64 }

// countReply is what the server saw since it started or was reset.
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

// resultCounts are inference requests by how they ended; those still running are in none.
type resultCounts struct {
	OK        uint64 `json:"ok"`
	Invalid   uint64 `json:"invalid"`   // refused: unknown model, wrong inputs
	Failed    uint64 `json:"failed"`    // failed on purpose
	Reset     uint64 `json:"reset"`     // cut on purpose
	Rejected  uint64 `json:"rejected"`  // no room, or shutting down
	Cancelled uint64 `json:"cancelled"` // the client left first
}

// control are the endpoints about the simulation itself, also served beside the inference endpoints:
//
//	GET  /sim/arrivals?from=N   arrivalsPage
//	GET  /sim/responses         sendings: of streams, and of the generate extension
//	GET  /sim/count             countReply
//	POST /sim/reset             forgets arrivals and counts, and starts stalls, faults and draws again
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

// reset is for a server between two runs: requests in flight may count on either side. Triton's statistics go on, as
// they do on a real server.
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
