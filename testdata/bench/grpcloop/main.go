// Command grpcloop is the least that a client over grpc-go can be: workers that call one method
// with one message, again and again, and look at nothing. It is the yardstick of what Sluice adds
// to grpc-go.
//
// It is not: a load generator to learn anything else from.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// raw is a codec that sends the bytes it is given and drops those that come.
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

// Unmarshal implements encoding.CodecV2.
func (raw) Unmarshal(mem.BufferSlice, any) error { return nil }

func main() {
	target := flag.String("target", "", "host:port")
	method := flag.String("method", "", "/package.Service/Method")
	message := flag.String("message", "", "file with the request's bytes")
	workers := flag.Int("workers", 1, "calls in flight")
	length := flag.Duration("for", time.Second, "how long")
	flag.Parse()
	if err := run(*target, *method, *message, *workers, *length); err != nil {
		fmt.Fprintln(os.Stderr, "grpcloop:", err)
		os.Exit(1)
	}
}

// perConnection is the number of calls that share a connection, as with Sluice.
const perConnection = 64

func run(target, method, file string, workers int, length time.Duration) error {
	message, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	conns := make([]*grpc.ClientConn, (workers+perConnection-1)/perConnection)
	for i := range conns {
		conns[i], err = grpc.NewClient("passthrough:///"+target,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{})))
		if err != nil {
			return err
		}
		defer conns[i].Close()
	}
	var stop atomic.Bool
	time.AfterFunc(length, func() { stop.Store(true) })
	errs := make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { errs[i] = work(conns[i%len(conns)], method, message, &stop) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func work(conn *grpc.ClientConn, method string, message []byte, stop *atomic.Bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for !stop.Load() {
		if err := conn.Invoke(ctx, method, &message, nil); err != nil {
			return err
		}
	}
	return nil
}
