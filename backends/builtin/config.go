package builtin

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Config describes the simulated server and its listeners. The zero Config is a fast server without
// faults on ephemeral loopback ports. It is also the JSON that a child process reads; durations are
// then integer nanoseconds.
type Config struct {
	// HTTP and GRPC are the addresses of the two listeners: "host:port" with a loopback host,
	// "unix:PATH", or empty for 127.0.0.1 and any free port.
	HTTP string `json:"http,omitempty"`
	GRPC string `json:"grpc,omitempty"`
	// TLS makes both listeners speak TLS with a certificate made for this run; URLs.CA verifies it.
	TLS bool `json:"tls,omitempty"`

	ServiceTime *Dist `json:"service_time,omitempty"` // of one execution; nil: the model's own
	Instances   int   `json:"instances,omitempty"`    // concurrent executions; 0: the model's own
	// rows that one execution may gather; 0 and 1: one request each
	MaxBatch   int           `json:"max_batch,omitempty"`
	QueueDelay time.Duration `json:"queue_delay_ns,omitempty"`
	QueueSize  int           `json:"queue_size,omitempty"` // requests that may wait for each model; 0: 4096

	Errors   float64       `json:"errors,omitempty"` // ratio of requests that fail after their service time
	Reset    float64       `json:"reset,omitempty"`  // ratio of requests whose connection is reset
	Stall    *Stall        `json:"stall,omitempty"`
	SlowBody time.Duration `json:"slow_body_ns,omitempty"` // between a reply's head and its body

	TTFT       *Dist       `json:"ttft,omitempty"` // of the text models; nil: 20 ms
	ITL        *Dist       `json:"itl,omitempty"`  // nil: 5 ms
	Generation *Generation `json:"generation,omitempty"`
	APIKey     string      `json:"api_key,omitempty"` // of language models; empty: everyone may use it

	// Seed makes the drawn service times and faults repeatable, in the order of executions and
	// arrivals.
	Seed uint64 `json:"seed,omitempty"`
}

// Stall is a time in which no request is answered: it starts At after the first inference request,
// lasts For, and repeats every Every (start to start; 0: once). Requests that arrive in it wait for
// its end.
type Stall struct {
	At    time.Duration `json:"at_ns"`
	For   time.Duration `json:"for_ns"`
	Every time.Duration `json:"every_ns,omitempty"`
}

// URLs holds the addresses of a server.
type URLs struct {
	HTTP string `json:"http"` // http://, https:// or http+unix://
	GRPC string `json:"grpc"` // grpc://, grpcs:// or grpc+unix://
	// Always plain http:// on loopback: /sim/arrivals, /sim/count, /sim/reset
	Control string `json:"control"`
	CA      string `json:"ca,omitempty"` // PEM that verifies the server's certificate; empty without TLS
}

// Limits of a Config: values beyond these are mistakes.
const (
	maxInstances     = 1024
	maxQueueSize     = 1 << 20
	defaultQueueSize = 4096
)

// validate returns the first mistake.
func (c Config) validate() error {
	switch {
	case c.Instances < 0 || c.Instances > maxInstances:
		return fmt.Errorf("instances is %d, want 0 to %d", c.Instances, maxInstances)
	case c.MaxBatch < 0:
		return fmt.Errorf("max_batch is %d, want 0 or more", c.MaxBatch)
	case c.QueueDelay < 0 || c.SlowBody < 0:
		return errors.New("queue_delay and slow_body must not be negative")
	case c.QueueSize < 0 || c.QueueSize > maxQueueSize:
		return fmt.Errorf("queue_size is %d, want 0 to %d", c.QueueSize, maxQueueSize)
	case !ratio(c.Errors):
		return fmt.Errorf("errors is %v, want a ratio from 0 to 1", c.Errors)
	case !ratio(c.Reset):
		return fmt.Errorf("reset is %v, want a ratio from 0 to 1", c.Reset)
	}
	if s := c.Stall; s != nil {
		if s.At < 0 || s.For < 0 || s.Every < 0 || (s.Every > 0 && s.Every <= s.For) {
			return fmt.Errorf("stall at %v for %v every %v: times must not be negative "+
				"and every longer than for", s.At, s.For, s.Every)
		}
	}
	for i, d := range []*Dist{c.ServiceTime, c.TTFT, c.ITL} {
		if d == nil {
			continue
		}
		if err := d.validate(); err != nil {
			return fmt.Errorf("%s: %w", strings.Fields("service_time ttft itl")[i], err)
		}
	}
	if c.Generation != nil {
		if err := c.Generation.Validate(); err != nil {
			return fmt.Errorf("generation: %w", err)
		}
	}
	return nil
}

// ratio reports whether v is from 0 to 1; NaN is not.
func ratio(v float64) bool { return v >= 0 && v <= 1 }
