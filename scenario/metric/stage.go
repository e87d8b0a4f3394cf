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

// BestRow returns the row of the value of a stage's best node. Only stages that say which is the best have
// it, as a whole.
func BestRow(d Dim) Row {
	return Row{
		Name: Best, Dim: d, From: Search, Better: Higher,
		Help: "The value of the best node of a stage with `best`, as stage(\"id\").best. No value where there " +
			"is none.",
	}
}

// GoodputRows lists the rows of nodes whose stage defines good requests by `goodput`.
func GoodputRows() []Row {
	return []Row{
		{
			Name: Goodput, Dim: Rate, From: Flow, Bound: Flowing, Better: Higher,
			Aliases: []string{"request_goodput"},
			Help: "Good requests answered in the hold window, per second: answered well, and " +
				"within every bound of the stage's goodput.",
		},
		{
			Name: GoodputRatio, Dim: Ratio, From: Counts, Bound: Counted, Better: Higher,
			Aliases: []string{"good_request_fraction", "goodput_percentage"},
			Help:    "Good requests over requests planned, those that were dropped included.",
		},
	}
}
