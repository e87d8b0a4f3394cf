package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Models of the OpenAI API. Adapters of chat answer as it does.
const (
	chatModel    = "chat"
	embedModel   = "embeddings"
	rankModel    = "rankings"
	embedding    = 8 // numbers of one
	createdAt    = 1700000000
	textInFlight = 1024 // requests that are answered at the same time, unless Config.Instances is less
)

// TextModels returns the names of the models of the OpenAI API.
func TextModels() []string { return []string{chatModel, "chat-a", "chat-b", embedModel, rankModel} }

// textServer answers the endpoints of the OpenAI API. Requests beyond `places` wait, in the order of arrival.
type textServer struct {
	*Server
	Generation
	places chan struct{}

	mu     sync.Mutex
	prefix prefixCache
	n      uint64     // requests so far
	stuck  *rand.Rand // draws the streams that stop
	timers []*timer   // free ones
}

func newTextServer(s *Server) *textServer {
	t := &textServer{Server: s, prefix: prefixCache{}}
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

// apiError is an error reply of the OpenAI API.
type apiError struct {
	status  int
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   any    `json:"param"`
	Code    any    `json:"code"`
}

func (e *apiError) Error() string { return e.Message }

func badRequest(param, format string, args ...any) *apiError {
	e := &apiError{
		status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...), Type: "invalid_request_error",
	}
	if param != "" {
		e.Param = param
	}
	return e
}

// body returns the JSON of e.
func (e *apiError) body() []byte {
	b, _ := json.Marshal(object{"error": e}) // strings can always be encoded
	return b
}

// routes adds the endpoints.
func (t *textServer) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	t.serve(mux, "GET /v1/models", t.models)
	t.serve(mux, "POST /v1/chat/completions",
		func(w http.ResponseWriter, r *http.Request) error { return t.generate(w, r, chatShape{}) })
	t.serve(mux, "POST /v1/completions",
		func(w http.ResponseWriter, r *http.Request) error { return t.generate(w, r, completionShape{}) })
	t.serve(mux, "POST /v1/embeddings", t.embeddings)
	for _, path := range []string{"/v1/ranking", "/v1/rerank", "/rerank"} {
		t.serve(mux, "POST "+path, t.rankings)
	}
}

// serve serves a pattern to whoever has the API key.
func (t *textServer) serve(
	mux *http.ServeMux, pattern string, h func(http.ResponseWriter, *http.Request) error,
) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		err := t.allowed(r)
		if err == nil {
			err = h(w, r)
		}
		t.writeError(w, err)
	})
}

// allowed refuses requests without the API key.
func (t *textServer) allowed(r *http.Request) error {
	key := t.config.APIKey
	if got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); key == "" || ok && got == key {
		return nil
	}
	return &apiError{
		status: http.StatusUnauthorized, Message: "Incorrect API key provided.", Type: "invalid_request_error",
		Code: "invalid_api_key",
	}
}

// writeError answers with an error. Nothing can be said to a client that is gone.
func (t *textServer) writeError(w http.ResponseWriter, err error) {
	var api *apiError
	var f *failure
	switch {
	case errors.Is(err, errReset):
		resetPeer(w)
	case errors.As(err, &api):
		writeJSON(w, api.status, api.body())
	case errors.As(err, &f):
		writeJSON(w, f.http, (&apiError{Message: f.text, Type: "invalid_request_error"}).body())
	}
}

func (t *textServer) models(w http.ResponseWriter, _ *http.Request) error {
	var list []object
	for _, name := range TextModels() {
		list = append(list, object{"id": name, "object": "model", "created": createdAt, "owned_by": "sluice"})
	}
	body, err := json.Marshal(object{"object": "list", "data": list})
	if err == nil {
		writeJSON(w, http.StatusOK, body)
	}
	return err
}

// read reads the JSON of a request into to.
func (t *textServer) read(w http.ResponseWriter, r *http.Request, to any) error {
	use := t.use()
	defer use.done()
	body, err := readBody(w, r, use)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, to); err != nil {
		return badRequest("", "We could not parse the JSON body of your request: %v", err)
	}
	return nil
}

// known refuses models that the endpoint does not serve.
func known(name string, of ...string) error {
	switch {
	case name == "":
		return badRequest("model", "you must provide a model parameter")
	case slices.Contains(of, name):
		return nil
	}
	return &apiError{
		status: http.StatusNotFound, Message: fmt.Sprintf("The model `%s` does not exist", name),
		Type: "invalid_request_error", Param: "model", Code: "model_not_found",
	}
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
	var api *apiError
	switch {
	case errors.Is(err, errBroken):
		err = &failure{http: http.StatusInternalServerError}
	case errors.As(err, &api):
		err = &failure{http: api.status}
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

// simulatedError is the error of a request that was drawn to fail.
func simulatedError() *apiError {
	return &apiError{
		status: http.StatusInternalServerError, Message: "simulated failure", Type: "server_error",
		Code: http.StatusInternalServerError,
	}
}

// execute takes the service time of a request that is answered as a whole.
func (t *textServer) execute(r *http.Request, answer func() (any, error)) (body []byte, err error) {
	v, err := t.enter(r)
	defer func() { t.leave(v, err) }()
	if err != nil {
		return nil, err
	}
	reply, err := answer()
	if err != nil {
		return nil, err
	}
	service := drawn(t.config.ServiceTime, 0, t.draws(v))()
	if err := t.waitUntil(r.Context(), v, t.clock.now()+int64(service)); err != nil {
		return nil, err
	}
	switch {
	case v.reset:
		return nil, errReset
	case v.fail:
		return nil, simulatedError()
	}
	return json.Marshal(reply)
}

// draws returns the source of the times of one request, which other requests do not change.
func (t *textServer) draws(v *visit) *rand.Rand {
	return rand.New(rand.NewPCG(t.config.Seed, v.number))
}
