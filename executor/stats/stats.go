// Package stats holds distributions, ranks and bounds. It is the only importer of hdrhistogram; measure, result and
// compare all hold Dists.
//
// It is not: a collector, a clock, a holder of any state between calls.
package stats
