package grpcraw

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/coding"
	"github.com/sluice-bench/sluice/backends/wire/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
)

// message is the form that Call.Impl has in this package.
type message struct {
	method   string
	metadata int               // index of its metadata in the pool
	options  []grpc.CallOption // of that metadata
	body     mem.BufferSlice
	whole    mem.BufferSlice // body and head, if the head has no holes
	head     *http2.Head     // its header fields, on a dedicated connection
	expect   any
}

// Call returns a Call of one encoded message: the pieces of body, then head with its holes. The
// head comes last because protobuf fields may have any order and grpc-go releases pieces in order:
// once it has released the patched one, it has released all, and the lane may reuse that buffer.
// Headers override the pool's own. A reply may have maxReply bytes (0: Options.MaxMessage, or
// backends.ReplyLimit). expect is for the judge, which reads it with Expected.
//
// It returns an error for a header that gRPC cannot carry and for a message over max_message.
func (p *Pool) Call(
	method string, headers []backends.Header, body [][]byte, head []byte, holes []backends.Hole,
	maxReply int64, expect any,
) (*backends.Call, error) {
	m := &message{method: method, expect: expect}
	call := &backends.Call{Head: head, Holes: holes, MaxReply: p.admitReplySize(maxReply), Impl: m}
	size := sizeOf(body) + len(head)
	if size > p.o.maxRequest() {
		return nil, fmt.Errorf("a request of %d bytes is over max_message, %d", size, p.o.maxRequest())
	}
	if p.o.Compression != "" {
		seal, err := coding.WithSuffix(p.o.Compression, len(head), body)
		if err != nil {
			return nil, err
		}
		call.Seal, body = seal, [][]byte{seal.Before}
		size = len(seal.Before) + len(head) + seal.TrailerSize()
	}
	for _, b := range body {
		if len(b) > 0 {
			m.body = append(m.body, mem.SliceBuffer(b))
		}
	}
	var err error
	if m.metadata, err = p.internMetadata(headers); err != nil {
		return nil, err
	}
	m.options = p.metadata(m.metadata).options
	m.head = p.callHead(method, m.metadata)
	if len(holes) == 0 && call.Seal == nil {
		m.whole = append(append(m.whole, m.body...), mem.SliceBuffer(head))
	}
	call.Size, call.Body = size+prefixSize, body
	return call, nil
}

func sizeOf(pieces [][]byte) (n int) {
	for _, b := range pieces {
		n += len(b)
	}
	return n
}

// Expected returns the expect argument of Pool.Call, for the judge.
func Expected(c *backends.Call) any { return c.Impl.(*message).expect }

// internMetadata returns the index of the pool's headers overridden by headers. Equal sets have one
// index, so that lanes keep one context for each.
func (p *Pool) internMetadata(headers []backends.Header) (int, error) {
	md, authority := metadata.MD{}, p.o.defaultAuthority()
	for _, list := range [][]backends.Header{p.o.Headers, headers} {
		own := metadata.MD{}
		for _, h := range list {
			if err := CheckHeader(h); err != nil {
				return 0, err
			}
			if strings.EqualFold(h.Name, "Host") {
				authority = h.Value
				continue
			}
			own.Append(strings.ToLower(h.Name), h.Value)
		}
		maps.Copy(md, own)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, have := range p.metadataSets {
		if maps.EqualFunc(have.md, md, slices.Equal) && have.authority == authority {
			return i, nil
		}
	}
	set := callMetadata{md: md, authority: authority}
	if len(p.metadataSets) > 0 && authority != p.metadataSets[0].authority {
		set.options = []grpc.CallOption{grpc.CallAuthority(authority)}
	}
	p.metadataSets = append(p.metadataSets, set)
	return len(p.metadataSets) - 1, nil
}

// callMetadata is the metadata of a call, built from its headers.
type callMetadata struct {
	md        metadata.MD
	authority string
	options   []grpc.CallOption // for grpc-go, if the authority differs from the connection's
}

// context returns ctx with the metadata.
func (s callMetadata) context(ctx context.Context) context.Context {
	if len(s.md) == 0 {
		return ctx
	}
	return metadata.NewOutgoingContext(ctx, s.md)
}

// CheckHeader returns an error that says why a header cannot be sent as metadata. The error does
// not show the value, which may be secret.
func CheckHeader(h backends.Header) error {
	name, value := strings.ToLower(h.Name), h.Value
	if name == ":authority" {
		return fmt.Errorf("header %q cannot be set: write Host, which is the authority over gRPC", h.Name)
	}
	if name == "" || strings.HasPrefix(name, "grpc-") {
		return fmt.Errorf("header %q cannot be set over gRPC: "+
			"names that start with grpc- are the protocol's own", name)
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return fmt.Errorf("header %q cannot be sent over gRPC: "+
				"only letters, digits, hyphen, underscore and dot can be in a name", name)
		}
	}
	switch name {
	case "host":
		return backends.CheckHost(value)
	case "content-type", "te", "connection", "content-length", "transfer-encoding", "upgrade", "user-agent":
		return fmt.Errorf("header %s cannot be set over gRPC: the client sets it itself", name)
	}
	for i := range len(value) {
		if c := value[i]; (c < ' ' || c > '~') && !strings.HasSuffix(name, "-bin") {
			return fmt.Errorf("the value of header %s holds byte %#02x at %d, "+
				"which gRPC metadata cannot carry", name, c, i)
		}
	}
	return nil
}
