package grpcraw

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http2"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
)

// dedicatedLanes opens n unary lanes that have a connection each, or one for every request.
func (p *Pool) dedicatedLanes(
	ctx context.Context, n int, want backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	o := netlane.Options{
		Network: p.o.Network, Address: p.o.Address, Clock: p.o.Clock, ConnectTimeout: p.o.ConnectTimeout,
		MaxBlocked: want.MaxBlocked, LargestCall: want.LargestCall,
		PerRequest: p.o.Connections == backends.PerRequest,
		New:        func() backends.Wire { return http2.New(p.wire()) },
	}
	if p.o.TLS != nil {
		o.TLS = p.o.TLS.Clone()
		o.TLS.NextProtos = []string{"h2"}
	}
	return netlane.Dial(ctx, o, n)
}

func (p *Pool) wire() http2.Options {
	return http2.Options{
		Judge: p.o.Judge(), Compressed: p.o.Compression != "", Framed: p.o.Framed, Streaming: p.o.Streaming,
		Head: func(c *backends.Call) *http2.Head { return c.Impl.(*message).head },
	}
}

// callHead returns the encoded header fields of calls of a method, made once.
func (p *Pool) callHead(method string, set callMetadata) *http2.Head {
	p.mu.Lock()
	defer p.mu.Unlock()
	if set.heads[method] == nil {
		set.heads[method] = http2.NewHead(p.fields(method, set))
	}
	return set.heads[method]
}

// fields returns the header fields of a call, in grpc-go's order and with its values.
func (p *Pool) fields(method string, set callMetadata) []http2.Field {
	scheme, replies, md := "http", "gzip", set.md
	if p.o.TLS != nil {
		scheme = "https"
	}
	list := []http2.Field{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: scheme},
		{Name: ":path", Value: method},
		{Name: ":authority", Value: set.authority},
		{Name: "content-type", Value: "application/grpc+proto"},
		{Name: "user-agent", Value: "sluice"},
		{Name: "te", Value: "trailers"},
	}
	if p.o.Compression != "" {
		replies = p.o.Compression
		list = append(list, http2.Field{Name: "grpc-encoding", Value: p.o.Compression})
	}
	list = append(list, http2.Field{Name: "grpc-accept-encoding", Value: replies})
	for _, name := range slices.Sorted(maps.Keys(md)) {
		for _, value := range md[name] {
			if isBinary(name) {
				value = base64.RawStdEncoding.EncodeToString([]byte(value))
			}
			list = append(list, http2.Field{Name: name, Value: value})
		}
	}
	return list
}
