// Command speed measures what Sluice costs and how punctual it is, beside the least that does the
// same work: wrk over HTTP, a bare grpc-go loop over gRPC. Server, Sluice and its peer are
// processes of their own; Sluice and the peer send the same bytes and take turns in one run, so
// that a ratio holds on any machine while the figures do not.
//
// It is not: a test (a busy machine decides nothing), a comparison of everything that the peers can
// do.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// bench holds the state that all measurements share.
type bench struct {
	bin    string // folder of the built programs
	old    string // the other Sluice, for versions; "": there is none
	work   string // a folder that is thrown away
	server *server
	out    *table
	rounds int // turns of each in a comparison
	// length of one turn; its CPU is that of the whole process, so the longer, the less start-up counts
	each  time.Duration
	paced time.Duration // length of an open loop
	many  int           // requests of the memory measurement
}

// steps are what can be measured, in order.
var steps = []struct {
	name string
	run  func(*bench) error
}{
	{"http", (*bench).http},
	{"grpc", (*bench).grpc},
	{"open", (*bench).open},
	{"start", (*bench).start},
	{"memory", (*bench).memory},
	{"versions", (*bench).versionsStep},
}

func main() {
	bin := flag.String("bin", "", "folder with sluice, refserver and grpcloop")
	old := flag.String("old", "", "another Sluice, which the step versions compares with")
	quick := flag.Bool("quick", false, "shorter turns and fewer requests")
	only := flag.String("only", "", "steps, separated by commas: http,grpc,open,start,memory,versions;\n"+
		"default: all but the last, or with -old the last alone")
	flag.Parse()
	if err := run(*bin, *old, *quick, *only); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func run(bin, old string, quick bool, only string) (err error) {
	work, err := os.MkdirTemp("", "speed-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	b := &bench{
		bin: bin, old: old, work: work, out: &table{}, rounds: 7, each: 4 * time.Second,
		paced: 10 * time.Second, many: 5_000_000,
	}
	if quick {
		b.rounds, b.each, b.paced, b.many = 5, 2*time.Second, 4*time.Second, 500_000
	}
	if b.server, err = startServer(filepath.Join(bin, "refserver")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.server.stop()) }()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	fmt.Printf("%d cores; %s per turn, %d pairs of turns, who goes first changing; medians, ratios by pair "+
		"(least–most); CPU is that of whole processes, start-up included, for "+
		"both of a pair; load of this machine by others: see the last column\n",
		runtime.NumCPU(), b.each, b.rounds)
	if only == "" {
		only = "http,grpc,open,start,memory"
		if old != "" {
			only = "versions"
		}
	}
	for _, s := range steps {
		if !strings.Contains(","+only+",", ","+s.name+",") {
			continue
		}
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if len(interrupted) > 0 {
			break
		}
	}
	return b.out.print(os.Stdout)
}
