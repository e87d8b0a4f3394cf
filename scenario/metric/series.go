package metric

// serverStatistics is the word of the ability that every row made by SeriesRow needs; the same as in
// backends.AbilityNames.
const serverStatistics = "server statistics"

// seriesAliases are perf_analyzer's names for what servers keep.
func seriesAliases(name string) []string {
	switch name {
	case "queue":
		return []string{"Server Queue"}
	case "compute_input":
		return []string{"Server Compute Input"}
	case "compute_infer":
		return []string{"Server Compute Infer"}
	case "compute_output":
		return []string{"Server Compute Output"}
	case "cache.hit":
		return []string{"Server Cache Hit"}
	case "cache.miss":
		return []string{"Server Cache Miss"}
	case "inferences":
		return []string{"Inference count"}
	case "executions":
		return []string{"Execution count"}
	}
	return nil
}

// SeriesRow is the row of a number that a server keeps about itself and a backend declares as a series. name, unit and
// help are the series' own ("queue", "ns", …). per says that the series is a sum over what another one counts: the row
// is server.NAME.mean, the growth of the one over the growth of the other in hold. Without per it is server.NAME.count,
// the growth itself. Values stand in the base unit of Dim: for unit "ns" that is seconds.
func SeriesRow(name, help, unit string, per bool) Row {
	r := Row{
		Name: "server." + name, Dim: Count, Shape: Value, From: Series, Help: help,
		Needs: serverStatistics, Aliases: seriesAliases(name), CSV: plain(),
	}
	switch unit {
	case "ns", "us", "ms", "s":
		r.Dim, r.Better, r.CSV = Duration, Lower, ms()
	case "bytes":
		r.Dim, r.CSV = Bytes, octets()
	}
	if per {
		r.Name += ".mean"
	} else {
		r.Name += ".count"
		if r.Dim != Count {
			r.Name = "server." + name + ".total"
		}
	}
	r.column()
	return r
}

// ServerHeadline are the rows that a table of what the server did shows, in this order.
func ServerHeadline() []Row {
	rows := []Row{SeriesRow("requests", "", "1", false), SeriesRow("request", "", "ns", true)}
	for _, part := range []string{"queue", "compute_input", "compute_infer", "compute_output", "overhead", "cache.hit", "cache.miss"} {
		rows = append(rows, SeriesRow(part, "", "ns", true))
	}
	return append(rows, SeriesRow("batch", "", "1", true))
}
