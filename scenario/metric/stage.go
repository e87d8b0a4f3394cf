package metric

// CapacityRow returns the row of the result of a search, in the dimension that was searched: Rate
// or Count. Only nodes that search have it.
func CapacityRow(d Dim) Row {
	r := Row{
		Name: Capacity, Dim: d, Shape: Value, From: Search, Better: Higher, CSV: perSec(),
		Help: "The largest load that a search confirmed: its conditions hold there. No value " +
			"when they held nowhere.",
	}
	if d == Count {
		r.CSV = plain()
	}
	r.column()
	return r
}

// GoodputRows lists the rows of nodes whose stage defines good requests by `goodput`.
func GoodputRows() []Row {
	rows := []Row{
		{
			Name: Goodput, Dim: Rate, Shape: Value, From: Flow, Better: Higher, CSV: perSec(),
			Aliases: []string{"request_goodput"},
			Help: "Good requests answered in the hold window, per second: answered well, and " +
				"within every bound of the stage's goodput.",
		},
		{
			Name: GoodputRatio, Dim: Ratio, Shape: Value, From: Counts, Better: Higher, CSV: plain(),
			Help: "Good requests over requests planned, those that were dropped included.",
		},
	}
	for i := range rows {
		rows[i].column()
	}
	return rows
}
