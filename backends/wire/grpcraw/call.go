package grpcraw

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
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
// With Options.Framed the pieces of body are messages without a head; holes are places in these, joined.
//
// It returns an error for a header that gRPC cannot carry and for a message over max_message.
func (p *Pool) Call(
	method string, headers []backends.Header, body [][]byte, head []byte, holes []backends.Hole,
	maxReply int64, expect any,
) (*backends.Call, error) {
	m := &message{method: method, expect: expect}
	call := &backends.Call{Head: head, Holes: holes, MaxReply: p.admitReplySize(maxReply), Impl: m}
	size := len(head)
	for _, b := range body {
		size += len(b)
	}
	if most := min(cmp.Or(p.o.MaxMessage, math.MaxInt32), math.MaxInt32); int64(size) > most {
		return nil, fmt.Errorf("a request of %d bytes is over max_message, %d", size, most)
	}
	if p.o.Framed {
		frames, err := p.frame(body)
		if err == nil && len(holes) > 0 && p.o.Compression != "" {
			err = errors.New("the messages of a stream cannot have counters with `compression`")
		}
		if err != nil {
			return nil, err
		}
		size = len(frames) - prefixSize
		if len(holes) > 0 {
			call.Head, call.Holes, body = frames, behindPrefixes(body, holes), nil
		} else {
			body = [][]byte{frames}
		}
	} else if p.o.Compression != "" {
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
	set := p.metadata(m.metadata)
	m.options, m.head = set.options, p.callHead(method, set)
	if len(holes) == 0 && call.Seal == nil {
		m.whole = append(append(m.whole, m.body...), mem.SliceBuffer(head))
	}
	call.Size, call.Body = size+prefixSize, body
	return call, nil
}

// frame returns messages with their prefixes, one after the other.
func (p *Pool) frame(messages [][]byte) (frames []byte, err error) {
	for _, m := range messages {
		flag := byte(0)
		if p.o.Compression != "" {
			packed, err := coding.WithSuffix(p.o.Compression, 0, [][]byte{m})
			if err != nil {
				return nil, err
			}
			flag, m = 1, packed.AppendTrailer(packed.Before, nil)
		}
		frames = binary.BigEndian.AppendUint32(append(frames, flag), uint32(len(m)))
		frames = append(frames, m...)
	}
	return frames, nil
}

// behindPrefixes moves holes to where they are with the prefixes of messages.
func behindPrefixes(messages [][]byte, holes []backends.Hole) (moved []backends.Hole) {
	for _, h := range holes {
		for i, end := 0, 0; i < len(messages); i++ {
			if end += len(messages[i]); int(h.At) < end {
				h.At += uint32((i + 1) * prefixSize)
				break
			}
		}
		moved = append(moved, h)
	}
	return moved
}

// Expected returns the expect argument of Pool.Call, for the judge.
func Expected(c *backends.Call) any { return c.Impl.(*message).expect }

// internMetadata returns the index of the pool's headers overridden by headers. Equal sets have one
// index, so that lanes keep one context for each.
func (p *Pool) internMetadata(headers []backends.Header) (int, error) {
	md, authority := metadata.MD{}, p.o.Authority
	if p.o.TLS != nil { // the name that the certificate is checked against
		authority = cmp.Or(p.o.TLS.ServerName, authority)
	}
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
			value := h.Value
			if isBinary(h.Name) {
				value, _ = binaryValue(value) // checked
			}
			own.Append(strings.ToLower(h.Name), value)
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
	set := callMetadata{md: md, authority: authority, heads: map[string]*http2.Head{}}
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
	options   []grpc.CallOption      // for grpc-go, if the authority differs from the connection's
	heads     map[string]*http2.Head // by method; guarded by the pool
}

// context returns ctx with the metadata.
func (s callMetadata) context(ctx context.Context) context.Context {
	if len(s.md) == 0 {
		return ctx
	}
	return metadata.NewOutgoingContext(ctx, s.md)
}

// isBinary reports whether metadata of this name are bytes.
func isBinary(name string) bool { return strings.HasSuffix(strings.ToLower(name), "-bin") }

// binaryValue returns the bytes of a value in base64, with or without padding.
func binaryValue(value string) (string, error) {
	b, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(value, "="))
	return string(b), err
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
	if isBinary(name) {
		if _, err := binaryValue(value); err != nil {
			return fmt.Errorf("the value of header %s is not base64, which names that end in -bin take: their "+
				"values are bytes", name)
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' {
			return fmt.Errorf("the value of header %s holds byte %#02x at %d, "+
				"which gRPC metadata cannot carry", name, c, i)
		}
	}
	return nil
}
