package metric

// serverStatistics is the ability that every row of SeriesRow needs, as in backends.AbilityNames.
const serverStatistics = "server statistics"

// SeriesRow returns the row of a statistic that a server keeps and a backend declares as a series.
// name, unit and help are those of the series ("queue", "ns", …). per marks a sum over events that
// another series counts: the row is server.NAME.mean, the growth of the sum over the growth of the
// count in hold. Without per it is server.NAME.count, the growth itself. Values are in the base
// unit of Dim: seconds for unit "ns".
func SeriesRow(name, help, unit string, per bool) Row {
	r := Row{
		Name: "server." + name, Dim: Count, From: Series, Bound: Blurred, Help: help,
		Needs: serverStatistics,
	}
	alias := map[string]string{ // perf_analyzer's names
		"queue": "Server Queue", "compute_input": "Server Compute Input",
		"compute_infer": "Server Compute Infer", "compute_output": "Server Compute Output",
		"cache.hit": "Server Cache Hit", "cache.miss": "Server Cache Miss",
		"inferences": "Inference count", "executions": "Execution count",
	}[name]
	if alias != "" {
		r.Aliases = []string{alias}
	}
	switch unit {
	case "ns", "us", "ms", "s":
		r.Dim, r.Better = Duration, Lower
	case "bytes":
		r.Dim = Bytes
	}
	switch {
	case per:
		r.Name += ".mean"
	case r.Dim == Count:
		r.Name += ".count"
	default:
		r.Name += ".total"
	}
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
