// Package stats implements distributions, ranks, confidence bounds and goodness-of-fit tests. It is
// the only importer of hdrhistogram, and keeps no state between calls.
//
// Percentiles are nearest rank everywhere: the p-th percentile of n values is the ⌈p·n/100⌉-th
// smallest, a value that really occurred, and monotone in p.
package stats
