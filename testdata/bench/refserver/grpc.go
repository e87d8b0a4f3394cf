package main

import (
	"errors"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// raw is a codec that passes messages through as bytes.
type raw struct{}

// Name implements encoding.CodecV2.
func (raw) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (raw) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, errors.New("not bytes")
	}
	return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
}

// Unmarshal implements encoding.CodecV2. Bytes are copied only for who asks for them.
func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	if b, ok := v.(*[]byte); ok {
		*b = data.Materialize()
	}
	return nil
}

// serveGRPC answers every method of the inference service. Arrivals are stamped when the handler starts.
func serveGRPC(rec *arrivals) (address string, err error) {
	replies := grpcReplies()
	handler := func(_ any, stream grpc.ServerStream) error {
		full, _ := grpc.MethodFromServerStream(stream)
		method := full[strings.LastIndexByte(full, '/')+1:]
		out, known := replies[method]
		if !known {
			return status.Error(codes.Unimplemented, method)
		}
		var in []byte
		var into any
		if rec.captured.Load() == nil {
			into = &in
		}
		if err := stream.RecvMsg(into); err != nil {
			return err
		}
		if method == "ModelInfer" {
			rec.add(int64(time.Since(rec.origin)), in)
		}
		return stream.SendMsg(&out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(handler),
		grpc.NumStreamWorkers(4))
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), nil
}
