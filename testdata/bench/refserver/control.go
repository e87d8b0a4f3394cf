package main

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// serveControl offers what was seen:
//
//	POST /reset                       forget all
//	GET  /count                       how many requests came, and when
//	GET  /lateness?rate=1000&last=N   of the last N, against a constant rate
//	GET  /request                     the bytes of the first one
//	POST /pace?ttft=20ms&gap=5ms&tokens=64&whole=false   of streams; forget all of them
//	GET  /streams                     their true times
//	GET  /stamps                      when each came and its events were written, if they have a gap
func serveControl(rec *arrivals, written *streams) (address string, err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /reset", func(http.ResponseWriter, *http.Request) { rec.reset() })
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { reply(w, rec.count()) })
	mux.HandleFunc("GET /lateness", func(w http.ResponseWriter, r *http.Request) {
		rate, err1 := strconv.ParseFloat(r.FormValue("rate"), 64)
		last, err2 := strconv.Atoi(r.FormValue("last"))
		if err1 != nil || err2 != nil || rate <= 0 {
			http.Error(w, "rate and last must be numbers", http.StatusBadRequest)
			return
		}
		reply(w, rec.late(rate, last))
	})
	mux.HandleFunc("GET /request", func(w http.ResponseWriter, _ *http.Request) {
		b := rec.captured.Load()
		if b == nil {
			http.Error(w, "no request yet", http.StatusNotFound)
			return
		}
		_, _ = w.Write(*b)
	})
	mux.HandleFunc("POST /pace", func(w http.ResponseWriter, r *http.Request) {
		p, err := readPace(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rec.reset()
		written.start(p)
	})
	mux.HandleFunc("GET /streams", func(w http.ResponseWriter, _ *http.Request) { reply(w, written.written()) })
	mux.HandleFunc("GET /stamps", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, written.stamps(rec.origin))
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), nil
}

func readPace(r *http.Request) (*pace, error) {
	ttft, err1 := time.ParseDuration(r.FormValue("ttft"))
	gap, err2 := time.ParseDuration(r.FormValue("gap"))
	tokens, err3 := strconv.Atoi(r.FormValue("tokens"))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if ttft < 0 || gap < 0 || tokens < 1 {
		return nil, errors.New("ttft and gap must not be negative, and a stream has a token")
	}
	return newPace(ttft, gap, tokens, r.FormValue("whole") == "true"), nil
}

func reply(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
