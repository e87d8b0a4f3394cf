package builtin

import (
	"net/http"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin/internal/llm"
)

// textAnswer is the answer to one request, which is sent when it is there.
type textAnswer struct {
	*textServer
	*llm.Answer
	visit *visit
	began int64 // when the generation began, of the server's clock
}

// Times of the model's own.
const (
	ownTTFT = 20 * time.Millisecond
	ownITL  = 5 * time.Millisecond
)

// play generates the answer and sends it.
func (a *textAnswer) play(w http.ResponseWriter, r *http.Request) error {
	a.began, a.Number = a.clock.now(), a.visit.number
	if a.PrefixCache {
		a.mu.Lock()
		a.Cached = a.prefix.Add(a.Prompt)
		a.mu.Unlock()
	}
	draws := a.draws(a.visit)
	ttft := drawn(a.config.TTFT, ownTTFT, draws)()
	if n := len(a.Prompt); a.Cached > 0 {
		ttft = ttft * time.Duration(n-a.Cached) / time.Duration(n)
	}
	pieces := a.Timeline(ttft, drawn(a.config.ITL, ownITL, draws))
	if a.Stream {
		return a.stream(w, r, pieces)
	}
	if err := a.fault(r, pieces[len(pieces)-1]); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.Whole())
	return nil
}

// fault waits until a piece is there. It returns the error of a request that goes wrong then.
func (a *textAnswer) fault(r *http.Request, at llm.Piece) error {
	if err := a.waitUntil(r.Context(), a.visit, a.began+int64(at.At)); err != nil {
		return err
	}
	switch {
	case a.visit.reset:
		return errReset
	case a.visit.fail:
		return llm.Simulated()
	}
	return nil
}

// stream sends the answer as server-sent events. Events of the same time are sent together.
func (a *textAnswer) stream(w http.ResponseWriter, r *http.Request, pieces []llm.Piece) error {
	if a.FailAfter == 0 && (a.visit.reset || a.visit.fail) {
		return a.fault(r, pieces[0])
	}
	w.Header()["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	w.WriteHeader(http.StatusOK)
	a.Start()
	if err := a.flush(w); err != nil {
		return err
	}
	if a.config.SlowBody > 0 && sleep(r.Context(), a.config.SlowBody) != nil {
		return r.Context().Err()
	}
	wrong := a.visit.reset || a.visit.fail || a.visit.stuck
	for i, p := range pieces {
		if err := a.waitUntil(r.Context(), a.visit, a.began+int64(p.At)); err != nil {
			return err
		}
		if wrong && p.From+p.Tokens > a.FailAfter {
			return a.breakOff(w, r)
		}
		if p.Tokens > 0 {
			a.sendings.note(a.ID(), p.From, a.visit.arrived)
		}
		a.Add(p)
		if i+1 < len(pieces) && pieces[i+1].At == p.At {
			continue
		}
		if err := a.flush(w); err != nil {
			return err
		}
	}
	return nil
}

// breakOff ends a stream that was drawn to go wrong: without an end, by a reset, or by an error in it.
func (a *textAnswer) breakOff(w http.ResponseWriter, r *http.Request) error {
	if err := a.flush(w); err != nil {
		return err
	}
	switch {
	case a.visit.stuck:
		<-r.Context().Done()
		return r.Context().Err()
	case a.visit.reset:
		return errReset
	}
	a.Fail(llm.Simulated())
	if err := a.flush(w); err != nil {
		return err
	}
	return errBroken
}

// flush sends the events that were added.
func (a *textAnswer) flush(w http.ResponseWriter) error {
	_, err := w.Write(a.Out.Bytes())
	a.Out.Reset()
	if err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
