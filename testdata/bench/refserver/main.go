// Command refserver is a server that costs as little as a server can and writes down when each
// request arrived, so that load generators can be judged by what they really did. It answers KServe
// v2: HTTP/1.1 by raw epoll, gRPC by grpc-go with a codec that passes bytes through; and the chats of
// OpenAI's interface with streams whose events it writes at known times.
//
// It is not: a server for anything but the speed benchmark, strict about what it is sent, part of
// the product.
//
// It listens on free ports of loopback, prints one line of JSON that names them, and ends when its
// standard input does.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

func main() {
	loops := flag.Int("loops", 2, "threads that serve HTTP")
	flag.Parse()
	if err := run(*loops); err != nil {
		fmt.Fprintln(os.Stderr, "refserver:", err)
		os.Exit(1)
	}
}

func run(loops int) error {
	debug.SetGCPercent(400)
	// The threads of HTTP wait inside the kernel: gRPC and control must not wait for them.
	runtime.GOMAXPROCS(runtime.NumCPU() + loops)
	rec, written := newArrivals(capacity), &streams{}
	written.start(newPace(20*time.Millisecond, 5*time.Millisecond, 64, false))
	var where struct {
		HTTP    string `json:"http"`
		GRPC    string `json:"grpc"`
		Control string `json:"control"`
	}
	var err error
	if where.HTTP, err = serveHTTP(rec, written, loops); err != nil {
		return fmt.Errorf("http: %w", err)
	}
	if where.GRPC, err = serveGRPC(rec); err != nil {
		return fmt.Errorf("grpc: %w", err)
	}
	if where.Control, err = serveControl(rec, written); err != nil {
		return fmt.Errorf("control: %w", err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(where); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
