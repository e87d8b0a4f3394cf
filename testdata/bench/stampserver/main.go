// Command stampserver answers chats of the OpenAI API and writes down when each request came, by the kernel, and
// when it was answered or its client left, so that a client can be judged by what it did. An answer takes as many ms as
// its max_tokens says, and repeats the last message.
//
// It is not: a model, fast, part of the product.
//
// It listens on a free port of loopback, prints one line of JSON that names it, and ends when its standard
// input does.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// visit is one request. Times are ns since 1970.
type visit struct {
	Text   string `json:"text"`   // of its last message
	Client string `json:"client"` // address and port: one for each connection
	At     int64  `json:"at"`
	End    int64  `json:"end"`
	Closed bool   `json:"closed"` // the client closed it: at End
}

// book holds all visits.
type book struct {
	origin time.Time // monotonic
	guard  sync.Mutex
	visits []visit
}

func (b *book) at(t time.Time) int64 { return b.origin.UnixNano() + int64(t.Sub(b.origin)) }
func (b *book) now() int64           { return b.at(time.Now()) }

func (b *book) enter(v visit) {
	b.guard.Lock()
	defer b.guard.Unlock()
	b.visits = append(b.visits, v)
}

// chat serves POST /v1/chat/completions.
func (b *book) chat(w http.ResponseWriter, r *http.Request) {
	came := r.Context().Value(connKey{}).(*conn).came.Load()
	now := time.Now() // one reading of both clocks
	v := visit{At: b.at(now) - (now.UnixNano() - came), Client: r.RemoteAddr}
	var ask struct {
		Messages  []struct{ Content string }
		MaxTokens int `json:"max_tokens"`
		Modern    int `json:"max_completion_tokens"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || len(ask.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	v.Text = ask.Messages[len(ask.Messages)-1].Content
	ms := cmp.Or(ask.MaxTokens, ask.Modern)
	select {
	case <-r.Context().Done():
		v.End, v.Closed = b.now(), true
		b.enter(v)
		return
	case <-time.After(time.Duration(v.At + int64(ms)*int64(time.Millisecond) - b.now())):
	}
	text, err := json.Marshal(v.Text)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	v.End = b.now() // the client cannot have the reply before
	fmt.Fprintf(w, `{"object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":`+
		`{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":1,"completion_tokens":%d,"total_tokens":%d}}`,
		text, ms, ms+1)
	b.enter(v)
}

// list serves GET /log: the visits in the order of their arrival; they are forgotten then.
func (b *book) list(w http.ResponseWriter, _ *http.Request) {
	b.guard.Lock()
	defer b.guard.Unlock()
	slices.SortFunc(b.visits, func(x, y visit) int { return cmp.Compare(x.At, y.At) })
	_ = json.NewEncoder(w).Encode(b.visits)
	b.visits = nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "stampserver:", err)
		os.Exit(1)
	}
}

func run() error {
	b := &book{origin: time.Now(), visits: []visit{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", b.chat)
	mux.HandleFunc("GET /log", b.list)
	l, err := listen()
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	go func() { _ = s.Serve(l) }()
	if _, err := fmt.Printf("{\"http\":\"http://%s\"}\n", l.Addr()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
