package metric

// serverStatistics is the ability that every row of SeriesRow needs, as in backends.AbilityNames.
const serverStatistics = "server statistics"

// seriesAliases lists perf_analyzer's names for the statistics of servers.
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

// SeriesRow returns the row of a statistic that a server keeps and a backend declares as a series.
// name, unit and help are those of the series ("queue", "ns", …). per marks a sum over events that
// another series counts: the row is server.NAME.mean, the growth of the sum over the growth of the
// count in hold. Without per it is server.NAME.count, the growth itself. Values are in the base
// unit of Dim: seconds for unit "ns".
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

// ServerHeadline lists the rows of a table of the server's statistics, in this order.
func ServerHeadline() []Row {
	rows := []Row{SeriesRow("requests", "", "1", false), SeriesRow("request", "", "ns", true)}
	for _, part := range []string{
		"queue", "compute_input", "compute_infer", "compute_output", "overhead", "cache.hit", "cache.miss",
	} {
		rows = append(rows, SeriesRow(part, "", "ns", true))
	}
	return append(rows, SeriesRow("batch", "", "1", true))
}
