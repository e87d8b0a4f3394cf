// Command sluice runs benchmark plans against inference servers and decides whether the numbers are
// good enough to ship.
//
// It holds the commands, their help and their messages, and connects all packages. No other package
// prints. It does not measure, judge, parse YAML or know a wire format.
package main

import (
	"io"
	"log"
	"os"
	"runtime/debug"
)

// collectEvery is the value of GOGC. A gRPC stream allocates some 5 KiB for each request inside the
// library, and reading a plan makes garbage, so the collector is a visible part of the cost of
// both; other requests allocate nothing. Twice this value made one gRPC request in flight more
// expensive, because memory left the cache.
const collectEvery = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectEvery)
	}
	log.SetOutput(io.Discard) // net/http logs what its errors contain too
	os.Exit(Main(os.Args[1:], system()))
}
