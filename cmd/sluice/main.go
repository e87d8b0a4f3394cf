// Command sluice runs benchmark plans against inference servers and says whether the numbers are good enough to ship.
//
// It holds the verbs, the words and the exit codes, and wires all parts together; it is the only printer.
//
// It is not: a measurer, a judge, a parser of YAML, a place that knows a wire format.
package main

import (
	"io"
	"log"
	"os"
	"runtime/debug"
)

// collectEvery is GOGC. A gRPC request allocates some 5 KiB inside the library whatever we do, and reading a plan fills
// memory that is soon garbage, so the collector's work is a visible part of the cost of both; HTTP requests allocate
// nothing. Twice this made one gRPC request in flight dearer, as memory left the cache.
const collectEvery = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectEvery)
	}
	log.SetOutput(io.Discard) // net/http writes there what its errors say again
	os.Exit(Main(os.Args[1:], system()))
}
