package expression

import "github.com/sluice-bench/sluice/scenario/metric"

// Format writes a value in base units for people: "31.2 ms", "199.6/s", "0.12 %".
func Format(d metric.Dim, v float64) string { return "" }
