package builtin

import (
	"math"
	"net/http"
	"strconv"
	"sync"
)

// counter holds the counts since the start or the last reset.
type counter struct {
	mu          sync.Mutex
	results     resultCounts
	connections connectionCounts
}

// add adds 1 to one of the counts.
func (c *counter) add(n *uint64) {
	c.mu.Lock()
	*n++
	c.mu.Unlock()
}

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
	serveJSON(mux, "GET /sim/arrivals", func(r *http.Request) (any, error) {
		from := uint64(0)
		if v := r.URL.Query().Get("from"); v != "" {
			var err error
			if from, err = strconv.ParseUint(v, 10, 64); err != nil {
				return nil, invalid("from=%s is no count", v)
			}
		}
		return s.arrivals.page(from), nil
	})
	serveJSON(mux, "GET /sim/count", func(*http.Request) (any, error) { return s.counts(), nil })
	serveJSON(mux, "GET /sim/responses", func(*http.Request) (any, error) {
		return s.sendings.list(s.arrivals.start()), nil
	})
	mux.HandleFunc("POST /sim/reset", func(http.ResponseWriter, *http.Request) { s.reset() })
}

func (s *Server) counts() countReply {
	var q sequenceCounts
	for _, m := range s.order {
		q.add(m.sequences)
	}
	s.counter.mu.Lock()
	defer s.counter.mu.Unlock()
	return countReply{
		Sequences: q, Arrivals: s.arrivals.page(math.MaxUint64).Next, Connections: s.counter.connections,
		Results: s.counter.results,
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
	s.text.reset()
	s.counter.mu.Lock()
	s.counter.results, s.counter.connections = resultCounts{}, connectionCounts{}
	s.counter.mu.Unlock()
}
