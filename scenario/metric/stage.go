package metric

// CapacityRow returns the row of the result of a search, in the dimension that was searched: Rate
// or Count. Only nodes that search have it.
func CapacityRow(d Dim) Row {
	return Row{
		Name: Capacity, Dim: d, From: Search, Better: Higher,
		Help: "The largest load that a search confirmed: its conditions hold there. No value " +
			"when they held nowhere.",
	}
}

// GoodputRows lists the rows of nodes whose stage defines good requests by `goodput`.
func GoodputRows() []Row {
	return []Row{
		{
			Name: Goodput, Dim: Rate, From: Flow, Better: Higher,
			Aliases: []string{"request_goodput"},
			Help: "Good requests answered in the hold window, per second: answered well, and " +
				"within every bound of the stage's goodput.",
		},
		{
			Name: GoodputRatio, Dim: Ratio, From: Counts, Better: Higher,
			Help: "Good requests over requests planned, those that were dropped included.",
		},
	}
}
