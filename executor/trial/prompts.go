package trial

import (
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// CacheSlack is the share of the prompts' tokens that a server may have in its cache beyond what the plan
// asks for: its template's, and parts of blocks.
const CacheSlack = 0.1

// warmCache says that a server had seen prompts, written for the plan, that it did not mean to send again.
func warmCache(in *Requests, all *measure.Aggregate) (list findings) {
	if all.CachedOf == 0 {
		return nil
	}
	asked := 0.0
	for _, e := range in.Entries {
		share := 0.0
		switch p := e.Plan.Request.Data.Prompts; {
		case p == nil: // what rows share, and how often they are sent, is the user's choice (executor/cached_rows.go)
			return nil
		case e.Continue != nil && p.Reuse == "none":
			share = 1 - newTokens(p, all)/float64(all.CachedOf)
		default:
			share = sharedTokens(p)
		}
		asked = max(asked, share)
	}
	if share := float64(all.CachedTokens) / float64(all.CachedOf); share > asked+CacheSlack {
		list.note(result.WarmCache,
			"the server had %.0f %% of the prompts' tokens in its cache, and the plan has them share %.0f %%: it has "+
				"seen the others before: restart it, or give the plan another `seed`", 100*share, 100*asked)
	}
	return list
}

// newTokens returns the number of tokens that no server has seen in the requests of sessions: of each turn those of
// its own prompt, of the first one those of the session's context as well.
func newTokens(p *scenario.Prompts, all *measure.Aggregate) float64 {
	return float64(all.FromUsage)*inputTokens(p) + float64(all.BegunSequences)*float64(p.Context)
}

// inputTokens returns the mean length of prompts.
func inputTokens(p *scenario.Prompts) float64 {
	own, weights := 0.0, 0.0
	for _, l := range p.Lengths {
		mean, _ := feed.Expected(l.Input)
		own, weights = own+l.Weight*mean, weights+l.Weight
	}
	if p.Lengths == nil {
		own, _ = feed.Expected(p.InputTokens)
		weights = 1
	}
	return own / weights
}

// sharedTokens returns the share of tokens that prompts have in common, as the plan asks for.
func sharedTokens(p *scenario.Prompts) float64 {
	if p.Reuse != "none" {
		return 1
	}
	common := float64(p.System)
	if p.Prefixes != nil {
		common += float64(p.Prefixes.Tokens)
	}
	return common / max(common+float64(p.Context)+inputTokens(p), 1)
}
