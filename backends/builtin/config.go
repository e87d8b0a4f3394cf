package builtin

import (
	"errors"
	"fmt"
	"time"
)

// Config is what the server simulates and where it listens. The zero Config is a fast server without faults on
// ephemeral loopback ports. As JSON it is what a child process reads; durations are then whole nanoseconds.
type Config struct {
	// HTTP and GRPC are where the two listeners stand: "host:port" with a loopback host, "unix:PATH", or empty for
	// 127.0.0.1 and any free port.
	HTTP string `json:"http,omitempty"`
	GRPC string `json:"grpc,omitempty"`
	// TLS makes both listeners speak TLS with a certificate made for this run; URLs.CA trusts it.
	TLS bool `json:"tls,omitempty"`

	ServiceTime *Dist         `json:"service_time,omitempty"` // of one execution; nil: the model's own
	Instances   int           `json:"instances,omitempty"`    // executions at the same time; 0: the model's own
	MaxBatch    int           `json:"max_batch,omitempty"`    // rows that one execution may gather; 0 and 1: one request each
	QueueDelay  time.Duration `json:"queue_delay_ns,omitempty"`
	QueueSize   int           `json:"queue_size,omitempty"` // requests that may wait for each model; 0: 4096

	Errors   float64       `json:"errors,omitempty"` // ratio of requests that fail after their service time
	Reset    float64       `json:"reset,omitempty"`  // ratio of requests whose connection is cut
	Stall    *Stall        `json:"stall,omitempty"`
	SlowBody time.Duration `json:"slow_body_ns,omitempty"` // between a reply's head and its body

	// Seed makes the drawn service times and faults repeatable, in the order of executions and arrivals.
	Seed uint64 `json:"seed,omitempty"`
}

// Stall is a time in which nothing is answered: it starts At after the first inference request, lasts For, and comes
// again every Every (start to start; 0: once). Requests that arrive in it wait for its end.
type Stall struct {
	At    time.Duration `json:"at_ns"`
	For   time.Duration `json:"for_ns"`
	Every time.Duration `json:"every_ns,omitempty"`
}

// URLs says where a server is.
type URLs struct {
	HTTP    string `json:"http"`         // http://, https:// or http+unix://
	GRPC    string `json:"grpc"`         // grpc://, grpcs:// or grpc+unix://
	Control string `json:"control"`      // always plain http:// on loopback: /sim/arrivals, /sim/count, /sim/reset
	CA      string `json:"ca,omitempty"` // PEM that verifies the server's certificate; empty without TLS
}

// Limits of a Config: beyond these a simulation is a mistake, not a wish.
const (
	maxInstances     = 1024
	maxQueueSize     = 1 << 20
	defaultQueueSize = 4096
)

// validate reports the first thing that cannot be simulated.
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
			return fmt.Errorf("stall at %v for %v every %v: times must not be negative and every longer than for", s.At, s.For, s.Every)
		}
	}
	if c.ServiceTime != nil {
		if err := c.ServiceTime.validate(); err != nil {
			return fmt.Errorf("service_time: %w", err)
		}
	}
	return nil
}

// ratio is false for NaN too.
func ratio(v float64) bool { return v >= 0 && v <= 1 }
