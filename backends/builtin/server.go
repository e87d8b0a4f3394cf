// Package builtin is the embedded inference server: KServe v2 over HTTP and gRPC with Triton's
// configuration and statistics, OpenAI's API and Anthropic's messages with known times of tokens, a
// simulated queue, faults on demand, and the true arrival times of requests. It serves the quick start
// and the test suite, and is the known truth that measurements are calibrated against.
//
// It is not: fast, and not built from Sluice's own wire code. It imports no package of Sluice and
// uses net/http, grpc-go and encoding/json, so that a protocol mistake has to be made twice, in
// different forms, to stay hidden.
package builtin

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/reflection"
)

// maxBodies bounds the bytes of requests that are held at the same time, over all models and both
// protocols.
const maxBodies = 512 << 20

// Server is a running server.
type Server struct {
	config   Config
	clock    clock
	urls     URLs
	models   map[string]*model
	order    []*model // in the order of the catalogue
	arrivals *arrivals
	sendings responseTimes
	faults   faults
	counter  counter
	bodies   atomic.Int64 // bytes that requests may still take
	trace    settings
	logs     settings
	regions  regions
	text     *textServer

	stop   context.CancelFunc // ends waiting handlers
	unhook func() bool
	https  []*http.Server // inference and control
	grpc   *grpc.Server
	all    sync.WaitGroup // accepting goroutines and HTTP connections
	once   sync.Once
}

// Start listens and serves until Close or until ctx is done.
func Start(ctx context.Context, c Config) (*Server, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	s := newServer(c)
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.unhook = context.AfterFunc(ctx, func() { s.closeAll() })
	return s, nil
}

func newServer(c Config) *Server {
	clk := clock{time.Now()}
	s := &Server{
		config:   c,
		clock:    clk,
		models:   map[string]*model{},
		order:    catalogue(),
		arrivals: newArrivals(clk, maxArrivals),
		sendings: responseTimes{clock: clk, ring: ring[responseTime]{limit: maxSendings}},
		faults:   faults{errors: c.Errors, reset: c.Reset, stall: c.Stall},
		trace: settings{values: object{
			"trace_level": []string{"OFF"}, "trace_rate": "1000", "trace_count": "-1", "log_frequency": "0",
		}},
		logs: settings{values: object{
			"log_info": true, "log_warning": true, "log_error": true, "log_verbose_level": int64(0),
			"log_format": "default",
		}},
		stop:   func() {},
		unhook: func() bool { return true },
	}
	s.faults.reseed(c.Seed)
	s.bodies.Store(maxBodies)
	for _, m := range s.order {
		m.attach(c, clk)
		s.models[m.name] = m
	}
	s.text = newTextServer(s)
	return s
}

// open starts the three listeners.
func (s *Server) open(ctx context.Context) error {
	schemes := [2]string{"http", "grpc"}
	var secure *tls.Config
	if s.config.TLS {
		cert, ca, err := selfSigned()
		if err != nil {
			return err
		}
		schemes = [2]string{"https", "grpcs"}
		secure = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
		s.urls.CA = ca
	}
	base, stop := context.WithCancel(context.Background())
	s.stop = stop
	infer := s.routes()
	s.control(infer)
	const anyPort = "127.0.0.1:0"
	count := &s.counter.connections
	l, url, err := listen(ctx, cmp.Or(s.config.HTTP, anyPort), schemes[0])
	if err != nil {
		return err
	}
	s.urls.HTTP = url
	s.serveHTTP(base, countingListener{l, &s.counter, &count.HTTP}, infer, secure)
	if l, url, err = listen(ctx, cmp.Or(s.config.GRPC, anyPort), schemes[1]); err != nil {
		return err
	}
	s.urls.GRPC = url
	s.serveGRPC(countingListener{l, &s.counter, &count.GRPC}, secure)
	if l, url, err = listen(ctx, anyPort, "http"); err != nil {
		return err
	}
	s.urls.Control = url
	about := http.NewServeMux()
	s.control(about)
	s.serveHTTP(base, l, about, nil)
	return nil
}

func (s *Server) serveHTTP(base context.Context, l net.Listener, h http.Handler, secure *tls.Config) {
	srv := &http.Server{
		Handler:           h,
		ConnState:         s.track,
		ReadHeaderTimeout: time.Minute,
		MaxHeaderBytes:    1 << 20,
		TLSConfig:         secure,
		Protocols:         new(http.Protocols),
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          log.New(io.Discard, "", 0), // clients report their own mistakes
	}
	srv.Protocols.SetHTTP1(true)
	s.https = append(s.https, srv)
	s.all.Go(func() {
		// Both return when the server is closed.
		if secure != nil {
			_ = srv.ServeTLS(l, "", "")
			return
		}
		_ = srv.Serve(l)
	})
}

// track counts an HTTP connection's goroutine. The first state comes from the accepting goroutine,
// which is itself counted, so that the count cannot rise again after it fell to zero.
func (s *Server) track(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateIdle:
		if s.text.CloseSilent {
			_ = c.Close()
		}
	case http.StateNew:
		s.all.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.all.Done()
	}
}

func (s *Server) serveGRPC(l net.Listener, secure *tls.Config) {
	creds := insecure.NewCredentials()
	if secure != nil {
		creds = credentials.NewTLS(secure.Clone())
	}
	s.grpc = grpc.NewServer(
		grpc.Creds(connCreds{creds}),
		grpc.MaxRecvMsgSize(maxBody),
		grpc.MaxSendMsgSize(maxBody),
		grpc.WaitForHandlers(true),
		grpc.RPCDecompressor(deflated{}), //nolint:staticcheck // its replacement is a registry of the process
	)
	s.grpc.RegisterService(s.service(), nil)
	for _, d := range append(s.tensorFlowServices(), s.torchService()) {
		s.grpc.RegisterService(d, nil)
	}
	reflection.Register(s.grpc)
	s.all.Go(func() { _ = s.grpc.Serve(l) })
}

// URLs returns the addresses of the server.
func (s *Server) URLs() URLs { return s.urls }

// HTTPURL returns URLs().HTTP.
func (s *Server) HTTPURL() string { return s.urls.HTTP }

// GRPCURL returns URLs().GRPC.
func (s *Server) GRPCURL() string { return s.urls.GRPC }

// Close resets all connections, ends all goroutines and returns when they have ended. It may be
// called more than once.
func (s *Server) Close() error {
	s.unhook()
	s.closeAll()
	return nil
}

// closeAll ends everything, once; a second caller waits for the first.
func (s *Server) closeAll() {
	s.once.Do(func() {
		s.stop()
		for _, h := range s.https {
			_ = h.Close()
		}
		for _, m := range s.order {
			m.queue.close()
		}
		if s.grpc != nil {
			s.grpc.Stop()
		}
		s.all.Wait()
		s.text.close()
		s.regions.close()
	})
}
