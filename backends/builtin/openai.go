package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin/internal/llm"
)

// textInFlight is the number of requests that are answered at the same time, unless Config.Instances is less.
const textInFlight = 1024

// Generation describes the answers of the text endpoints.
type Generation = llm.Generation

// TextModels returns the names of the models of the text endpoints.
func TextModels() []string { return llm.Models() }

// textServer answers the endpoints of language models. Requests beyond `places` wait, in the order of arrival.
type textServer struct {
	*Server
	Generation
	places chan struct{}

	mu     sync.Mutex
	prefix llm.PrefixCache
	n      uint64     // requests so far
	stuck  *rand.Rand // draws the streams that stop
	timers []*timer   // free ones
}

func newTextServer(s *Server) *textServer {
	t := &textServer{Server: s, prefix: llm.PrefixCache{}}
	if g := s.config.Generation; g != nil {
		t.Generation = *g
	}
	n := textInFlight
	if s.config.Instances > 0 {
		n = s.config.Instances
	}
	t.places = make(chan struct{}, n)
	t.reset()
	return t
}

// reset forgets prompts, and restarts numbers and draws.
func (t *textServer) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.prefix)
	t.n, t.stuck = 0, rand.New(rand.NewPCG(t.config.Seed, 0x737475636b))
}

func (t *textServer) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.timers {
		x.close()
	}
	t.timers = nil
}

// routes adds the endpoints.
func (t *textServer) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	t.serve(mux, "GET /v1/models", llm.Other, func(w http.ResponseWriter, _ *http.Request) error {
		writeJSON(w, http.StatusOK, llm.ModelList())
		return nil
	})
	for path, of := range llm.Paths() {
		t.serve(mux, "POST "+path, of, func(w http.ResponseWriter, r *http.Request) error {
			return t.generate(w, r, of)
		})
	}
	for path, answer := range map[string]func([]byte) (any, error){
		"/v1/embeddings": llm.Embeddings, "/v1/ranking": llm.Rankings, "/v1/rerank": llm.Rankings,
		"/rerank": llm.Rankings, "/v1/images/generations": llm.Images, "/v1/infer": llm.Detections,
	} {
		t.serve(mux, "POST "+path, llm.Other, func(w http.ResponseWriter, r *http.Request) error {
			return t.whole(w, r, answer)
		})
	}
}

// serve serves a pattern to whoever has the API key. Errors have the form of an endpoint.
func (t *textServer) serve(
	mux *http.ServeMux, pattern string, of llm.Endpoint, h func(http.ResponseWriter, *http.Request) error,
) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		err := t.allowed(r)
		if err == nil {
			err = h(w, r)
		}
		t.writeError(w, of, err)
	})
}

// allowed refuses requests without the API key. Anthropic's header has it too.
func (t *textServer) allowed(r *http.Request) error {
	key := t.config.APIKey
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if key == "" || ok && got == key || r.Header.Get("X-Api-Key") == key {
		return nil
	}
	return llm.Unauthorized()
}

// writeError answers with an error. Nothing can be said to a client that is gone.
func (t *textServer) writeError(w http.ResponseWriter, of llm.Endpoint, err error) {
	var api *llm.Error
	var f *failure
	switch {
	case errors.Is(err, errReset):
		resetPeer(w)
	case errors.As(err, &api):
		writeJSON(w, api.Status, api.Body(of))
	case errors.As(err, &f):
		writeJSON(w, f.http, (&llm.Error{Status: f.http, Message: f.text, Type: "invalid_request_error"}).Body(of))
	}
}

// generate serves an endpoint that generates text.
func (t *textServer) generate(w http.ResponseWriter, r *http.Request, of llm.Endpoint) (err error) {
	body, err := t.body(w, r)
	if err != nil {
		return err
	}
	a, err := llm.Read(of, t.Generation, body)
	if err != nil {
		return err
	}
	v, err := t.enter(r)
	defer func() { t.leave(v, err) }()
	if err != nil {
		return err
	}
	return (&textAnswer{textServer: t, Answer: a, visit: v}).play(w, r)
}

// body reads the body of a request.
func (t *textServer) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	use := t.use()
	defer use.done()
	body, err := readBody(w, r, use)
	return bytes.Clone(body), err
}

// errBroken is the outcome of a stream with an error in it.
var errBroken = errors.New("the stream ended with an error")

// visit is one request that has arrived.
type visit struct {
	arrived     int64 // of the server's clock
	number      uint64
	fail, reset bool
	stuck       bool
	timer       *timer
}

// enter stamps a request, waits through a stall and for a place, and draws what goes wrong with it. After
// it leave must be called, whatever enter returns.
func (t *textServer) enter(r *http.Request) (*visit, error) {
	now, first := t.arrivals.stamp()
	v := &visit{arrived: now}
	v.fail, v.reset = t.faults.draw()
	t.mu.Lock()
	v.number, t.n = t.n, t.n+1
	v.stuck = t.stuck.Float64() < t.Stuck
	t.mu.Unlock()
	if err := sleep(r.Context(), t.faults.wait(time.Duration(now-first))); err != nil {
		return v, err
	}
	select {
	case t.places <- struct{}{}:
	case <-r.Context().Done():
		return v, r.Context().Err()
	}
	var err error
	if v.timer, err = t.timer(); err != nil {
		<-t.places
	}
	return v, err
}

// leave gives the place of a request back and counts its outcome.
func (t *textServer) leave(v *visit, err error) {
	if v.timer != nil {
		t.mu.Lock()
		t.timers = append(t.timers, v.timer)
		t.mu.Unlock()
		<-t.places
	}
	var api *llm.Error
	switch {
	case errors.Is(err, errBroken):
		err = &failure{http: http.StatusInternalServerError}
	case errors.As(err, &api):
		err = &failure{http: api.Status}
	}
	t.count(err)
}

// timer returns a free timer or a new one.
func (t *textServer) timer() (*timer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.timers); n > 0 {
		x := t.timers[n-1]
		t.timers = t.timers[:n-1]
		return x, nil
	}
	return newTimer()
}

// coarse is how long before a due time a kernel timer takes over from Go's, which a client that leaves can
// interrupt.
const coarse = 2 * time.Millisecond

// waitUntil returns at time due of the server's clock, or before if ctx is done.
func (t *textServer) waitUntil(ctx context.Context, v *visit, due int64) error {
	if err := sleep(ctx, time.Duration(due-t.clock.now())-coarse); err != nil {
		return err
	}
	if due > t.clock.now() && !v.timer.waitUntil(t.clock, due) {
		return errClosed
	}
	return ctx.Err()
}

// whole serves a request that is answered as a whole, after the service time.
func (t *textServer) whole(
	w http.ResponseWriter, r *http.Request, answer func(body []byte) (any, error),
) (err error) {
	body, err := t.body(w, r)
	if err != nil {
		return err
	}
	reply, err := answer(body)
	if err != nil {
		return err
	}
	v, err := t.enter(r)
	defer func() { t.leave(v, err) }()
	if err != nil {
		return err
	}
	service := drawn(t.config.ServiceTime, 0, t.draws(v))()
	if err := t.waitUntil(r.Context(), v, t.clock.now()+int64(service)); err != nil {
		return err
	}
	switch {
	case v.reset:
		return errReset
	case v.fail:
		return llm.Simulated()
	}
	text, err := json.Marshal(reply)
	if err == nil {
		writeJSON(w, http.StatusOK, text)
	}
	return err
}

// draws returns the source of the times of one request, which other requests do not change.
func (t *textServer) draws(v *visit) *rand.Rand {
	return rand.New(rand.NewPCG(t.config.Seed, v.number))
}

// drawn returns a function that draws times of d, or own without one.
func drawn(d *Dist, own time.Duration, r *rand.Rand) func() time.Duration {
	if d == nil {
		return func() time.Duration { return own }
	}
	return func() time.Duration { return d.draw(r) }
}
