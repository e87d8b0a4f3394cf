package main

import (
	"encoding/json"
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
func serveControl(rec *arrivals) (address string, err error) {
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), nil
}

func reply(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
