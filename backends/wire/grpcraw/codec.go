package grpcraw

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// receiver takes a reply message, which is valid during the call only.
type receiver interface{ unmarshal(mem.BufferSlice) }

// codec passes bytes through. Its name is the one that servers expect (application/grpc+proto).
type codec struct{}

// Name implements encoding.CodecV2.
func (codec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	switch v := v.(type) {
	case *outgoing:
		return v.marshal(), nil
	case *[]byte:
		return mem.BufferSlice{mem.SliceBuffer(*v)}, nil
	}
	return nil, fmt.Errorf("cannot encode a %T", v)
}

// Unmarshal implements encoding.CodecV2. data is released when it returns.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch v := v.(type) {
	case receiver:
		v.unmarshal(data)
		return nil
	case *[]byte:
		*v = data.Materialize()
		return nil
	}
	return fmt.Errorf("cannot decode into a %T", v)
}
