package trial

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// cacheCounters are the counters of an engine of the tokens of prompts that it had cached, and of all that it looked
// for, which may be the sum of several.
type cacheCounters struct {
	hits    string
	queries []string
}

// counters of engines. Shares are gauges of those that have no counters.
var (
	caches = []cacheCounters{
		{"vllm:prefix_cache_hits_total", []string{"vllm:prefix_cache_queries_total"}},
		{"sglang:cached_tokens_total", []string{"sglang:prompt_tokens_total"}},
		// Its prompt tokens are those that it processed, without the cached ones.
		{llamaCached, []string{llamaCached, "llamacpp:prompt_tokens_total"}},
	}
	cacheShares = []string{"sglang:cache_hit_rate", "trtllm_kv_cache_hit_rate"}
	preemptions = []string{"vllm:num_preemptions_total", "sglang:num_retracted_reqs_total"}
)

const llamaCached = "llamacpp:prompt_tokens_cached_total"

// energies are counters of GPUs, with the factor to joules.
var energies = []family{
	{name: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", factor: 1e-3},
	{name: "nv_energy_consumption", factor: 1},
}

// scrapedSum returns a value that is made of the counters of the endpoints in hold; false: they do not show
// it.
func scrapedSum(row string, scrapes []result.Scrape, all *measure.Aggregate) (v float64, ok bool) {
	scrapes = eachOnce(scrapes)
	switch row {
	case metric.GPUEnergy:
		return energyOf(scrapes)
	case metric.GPUEnergyPerToken:
		v, ok = energyOf(scrapes)
		if !ok || all.OutputTokens == 0 || all.NoOutput > 0 || !sameTime(scrapes, all) {
			return 0, false
		}
		return v / float64(all.OutputTokens), ok
	case metric.EngineCachedShare:
		return cachedShare(scrapes)
	case metric.EnginePreemptions:
		return increaseOf(scrapes, preemptions)
	}
	return 0, false
}

// eachOnce leaves out endpoints that an earlier target has too: what they count is counted once. Those of one target
// are different ones, also where they differ only by the query, which is not shown.
func eachOnce(scrapes []result.Scrape) (list []result.Scrape) {
	for _, x := range scrapes {
		if !slices.ContainsFunc(list, func(o result.Scrape) bool { return o.Target != x.Target && o.URL == x.URL }) {
			list = append(list, x)
		}
	}
	return list
}

// energyOf returns the energy that the GPUs of all endpoints took, J: of the first family that any shows, as an
// exporter and the server may both show the same GPU.
func energyOf(scrapes []result.Scrape) (v float64, ok bool) {
	for _, f := range energies {
		if v, ok = sumOf(scrapes, f, (*result.Scrape).Growth); ok {
			return v, true
		}
	}
	for _, f := range families[metric.GPUPower] {
		if v, ok = sumOf(scrapes, f, (*result.Scrape).Integral); ok {
			return v, true
		}
	}
	return 0, false
}

// sumOf adds what of tells of a family, over all endpoints that show it.
func sumOf(
	scrapes []result.Scrape, f family, of func(*result.Scrape, func(*result.Scraped) bool) (float64, bool),
) (v float64, ok bool) {
	for i := range scrapes {
		if more, shown := of(&scrapes[i], f.shows); shown {
			v, ok = v+more*f.factor, true
		}
	}
	return v, ok
}

// sameTime reports whether requests are counted in all of the time that endpoints are read in: not on the way
// between the holds of a ramp.
func sameTime(scrapes []result.Scrape, all *measure.Aggregate) bool {
	read := 0.0
	for _, e := range scrapes[0].Edges {
		read += e.To - e.From
	}
	return math.Abs(read-seconds(all.Window)) <= 0.02*read
}

// increaseOf returns by how much the counters of one of these names grew, on all endpoints that show any.
func increaseOf(scrapes []result.Scrape, names []string) (v float64, ok bool) {
	for i := range scrapes {
		for _, name := range names {
			for _, known := range metric.SeriesNames(name) {
				if grown, shown := scrapes[i].Growth(func(s *result.Scraped) bool { return s.Name == known }); shown {
					v, ok = v+grown, true
					break
				}
			}
		}
	}
	return v, ok
}

// cachedShare returns the share of the tokens of prompts that the engines had cached: by their counters, else
// the mean of the share that they show.
func cachedShare(scrapes []result.Scrape) (v float64, ok bool) {
	for _, c := range caches {
		hits, counts := increaseOf(scrapes, []string{c.hits})
		queries, asked := increaseOf(scrapes, c.queries)
		if counts && asked && queries > 0 {
			return hits / queries, true
		}
	}
	sum, n := 0.0, 0
	for i := range scrapes {
		x := &scrapes[i]
		for k := range x.Series {
			s := &x.Series[k]
			if x.Unread > 0 || !slices.Contains(cacheShares, s.Name) {
				continue
			}
			for at, value := range s.Values {
				if value != nil && x.Used(at) {
					sum, n = sum+*value, n+1
				}
			}
		}
	}
	return sum / float64(max(n, 1)), n > 0
}
