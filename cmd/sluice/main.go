// Command sluice runs benchmark plans against inference servers and says whether the numbers are good enough to ship.
//
// It holds the verbs, the words and the exit codes, and wires all parts together; it is the only printer.
//
// It is not: a measurer, a judge, a parser of YAML, a place that knows a wire format.
package main

import (
	"os"
)

func main() { os.Exit(Main(os.Args[1:], system())) }
