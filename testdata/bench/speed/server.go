package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// server is the reference server's process and its control.
type server struct {
	HTTP    string `json:"http"`
	GRPC    string `json:"grpc"`
	Control string `json:"control"`

	cmd    *exec.Cmd
	stdin  io.Closer
	client http.Client
}

func startServer(path string) (*server, error) {
	s := &server{cmd: exec.Command(path), client: http.Client{Timeout: time.Minute}}
	s.cmd.Stderr = os.Stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.stdin = in // when this process ends, whatever the way, so does the server
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := json.NewDecoder(out).Decode(s); err != nil {
		return nil, fmt.Errorf("the reference server does not say where it is: %w", err)
	}
	return s, nil
}

func (s *server) stop() error {
	_ = s.stdin.Close()
	return s.cmd.Wait()
}

func (s *server) reset() error {
	_, err := s.ask(http.MethodPost, "/reset")
	return err
}

// ask is one control call.
func (s *server) ask(method, path string) ([]byte, error) {
	req, err := http.NewRequest(method, "http://"+s.Control+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	reply, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, reply.Status, body)
	}
	return body, err
}

// seen holds the counts of the server since the last reset.
type seen struct {
	Count   int64   `json:"count"`
	First   int64   `json:"first"`
	Seconds float64 `json:"seconds"`
}

func (s *server) count() (c seen, err error) {
	body, err := s.ask(http.MethodGet, "/count")
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(body, &c)
}

// lateness is how far behind a constant rate the arrivals were, µs.
type lateness struct {
	Count int     `json:"count"`
	Rate  float64 `json:"rate"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99.9"`
}

func (s *server) lateness(rate, last int) (l lateness, err error) {
	body, err := s.ask(http.MethodGet, fmt.Sprintf("/lateness?rate=%d&last=%d", rate, last))
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal(body, &l)
}
