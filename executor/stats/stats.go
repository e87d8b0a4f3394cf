// Package stats holds distributions, ranks, bounds and goodness-of-fit tests. It is the only importer of hdrhistogram;
// measure, result and compare all hold Dists.
//
// It is not: a collector, a clock, a holder of any state between calls.
//
// Percentiles are nearest rank everywhere: the p-th percentile of n values is the ⌈p·n/100⌉-th smallest, a value that
// really occurred, and monotone in p.
package stats
