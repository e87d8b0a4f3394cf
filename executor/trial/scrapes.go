package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// scrapeLimit bounds one answer of a metrics endpoint.
const scrapeLimit = 5 * time.Second

// maxScraped caps the values that are kept of one endpoint for one node.
const maxScraped = 1_000_000

// Endpoint is a Prometheus endpoint of a target, open.
type Endpoint struct {
	Target  *scenario.Target
	URL     string
	Headers []backends.Header // of the target, if the endpoint is its server's
	Client  *http.Client
}

// Read reads the endpoint once.
func (e *Endpoint) Read(ctx context.Context) ([]observe.Sample, error) {
	ctx, cancel := WithGrace(ctx, scrapeLimit)
	defer cancel()
	kept := observe.Kept{Match: e.Target.Metrics.Match}
	for _, l := range e.Target.Metrics.Labels {
		kept.Labels = append(kept.Labels, observe.Label{Name: l.Key, Value: l.Value})
	}
	list, err := observe.Scrape(ctx, e.Client, e.URL, e.Headers, kept)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("GET %s: no answer within %v", observe.ShownURL(e.URL), scrapeLimit)
	}
	return list, err
}

// scraping holds what one endpoint reported.
type scraping struct {
	*Endpoint
	due    int64 // run clock
	began  bool  // hold has
	behind bool  // a reading is due while one is open
	left   int   // readings that were left out for that
	busy   sync.Mutex
	taken  []scraped // by one question at a time, as all below; to be read when none is open
	values int
	missed int // readings that were not kept
	failed int
	err    error // of the last that failed
	most   int64 // that one took, ns
}

// scraped is one answer.
type scraped struct {
	at      int64 // run clock, the middle of the question and the answer
	last    bool  // asked for when hold had ended
	samples []observe.Sample
}

// scrape reads what is due of the endpoints: before the clock starts, at the start of hold, every
// `every`, and at the end. last: hold is over.
func (o *observer) scrape(ctx context.Context, now int64, last bool) {
	if o.scrapings == nil {
		for _, to := range o.in.Requests.Targets {
			for _, e := range to.Metrics {
				o.scrapings = append(o.scrapings, &scraping{Endpoint: e, due: now})
			}
		}
	}
	hold := o.control.HoldStart.Load()
	for _, x := range o.scrapings {
		if !x.began && hold > 0 && now >= hold {
			x.began, x.due = true, now
		}
		if now < x.due && !last {
			continue
		}
		if !last && !x.busy.TryLock() {
			x.behind = true // the endpoint is slower than `every`
			continue
		}
		for n, every := 0, int64(x.Target.Metrics.Every); x.due <= now; n++ {
			if x.due += every; x.behind && n > 0 {
				x.left++
			}
		}
		x.behind = false
		o.asking.Go(func() {
			if last { // after the one that is open
				x.busy.Lock()
			}
			defer x.busy.Unlock()
			x.take(ctx, o.host.Clock, last)
		})
	}
}

// take reads once; last: hold has ended.
func (x *scraping) take(ctx context.Context, clock backends.Clock, last bool) {
	from := clock.Now()
	samples, err := x.Read(ctx)
	took := clock.Now() - from
	at := from + took/2
	x.most = max(x.most, took)
	switch {
	case err != nil:
		x.failed, x.err = x.failed+1, err
	case x.values+len(samples) > maxScraped:
		x.missed++
	default:
		x.values += len(samples)
		x.taken = append(x.taken, scraped{at, last, samples})
	}
}

// scraped returns the readings in a span of a hold that began at hold, and notes about failures. ends: the
// span ends with hold.
func (o *observer) scraped(hold int64, span measure.Span, ends bool) (list []result.Scrape, notes findings) {
	for _, x := range o.scrapings {
		name, every := x.Target.Name, x.Target.Metrics.Every
		if x.failed > 0 {
			notes.note("metrics",
				"%d of %d readings of the metrics endpoint of target %s failed, the last: %s",
				x.failed, x.failed+len(x.taken), name, x.err)
		}
		if x.left > 0 && time.Duration(x.most) > every {
			took := time.Duration(x.most).Round(time.Millisecond)
			notes.note("metrics",
				"the metrics endpoint of target %s took up to %v to answer, and is to be read "+
					"every %s: %d readings were left out", name, took, source.Duration(every), x.left)
		}
		list = append(list, x.result(hold, span, o.warm() || span.From > 0, ends))
	}
	return list, notes
}

// result returns what is stored of the readings in a span of hold. warm: requests were sent before it; ends:
// none was sent after it.
func (x *scraping) result(hold int64, span measure.Span, warm, ends bool) result.Scrape {
	edge := result.ScrapeEdge{From: seconds(span.From), To: seconds(span.To)}
	out := result.Scrape{
		Target: x.Target.Name, URL: observe.ShownURL(x.URL), Missing: x.missed, At: []float64{},
		Edges: []result.ScrapeEdge{edge},
	}
	index := map[string]int{}
	slices.SortFunc(x.taken, func(a, b scraped) int { return cmp.Compare(a.at, b.at) })
	inside, before, after := x.within(hold, span, warm, ends)
	if x.failed > 0 && !x.covers(inside, hold+span.From, hold+span.To) {
		out.Unread = x.failed
	}
	if before || after {
		out.Outside = make([]bool, len(inside))
		out.Outside[0] = before
		out.Outside[len(inside)-1] = out.Outside[len(inside)-1] || after
	}
	for _, s := range inside {
		out.At = append(out.At, seconds(s.at-hold))
		for _, v := range s.samples {
			if math.IsNaN(v.V) || math.IsInf(v.V, 0) {
				continue
			}
			name := v.Series.String()
			i, ok := index[name]
			if !ok {
				i = len(out.Series)
				index[name] = i
				labels := map[string]string{}
				for _, l := range v.Series.Labels {
					labels[l.Name] = l.Value
				}
				out.Series = append(out.Series,
					result.Scraped{Name: v.Series.Name, Labels: labels, Type: v.Series.Type})
			}
			values := &out.Series[i].Values
			*values = append(padded(*values, len(out.At)-1), &v.V)
		}
	}
	for i := range out.Series {
		out.Series[i].Values = padded(out.Series[i].Values, len(out.At))
	}
	return out
}

// within returns the readings of a span of hold, and whether the first and the last of them lie outside: they
// tell what counters were at its edges. Where nothing was sent before the span, the reading before it is that
// of its start. The last of all is asked for when hold ends, and is that of its end; one before it whose
// answer came only then may be of any time in between.
func (x *scraping) within(
	hold int64, span measure.Span, warm, ends bool,
) (list []scraped, before, after bool) {
	const late = int64(scrapeLimit)
	from, to := hold+span.From, hold+span.To
	first := sort.Search(len(x.taken), func(i int) bool { return x.taken[i].at >= from })
	next := sort.Search(len(x.taken), func(i int) bool { return x.taken[i].at > to })
	begin := max(first-1, 0)
	list = slices.Clone(x.taken[begin:next])
	if last := len(x.taken) - 1; next <= last {
		if ends {
			next = last
		}
		r := x.taken[next]
		list, after = append(list, r), !r.last || r.at > to+late
	}
	if first > 0 {
		before = warm && (len(list) > 2 || list[0].at >= hold)
	}
	return list, before, after
}

// covers reports whether there are readings of both ends of a span: the last one is asked for when
// it ends.
func (x *scraping) covers(list []scraped, from, to int64) bool {
	return len(list) > 0 && list[0].at <= from+int64(x.Target.Metrics.Every) && list[len(list)-1].at >= to
}

// joinScrapes adds the readings of the next repeat.
func joinScrapes(all, next []result.Scrape, repeat int) []result.Scrape {
	if all == nil {
		return next
	}
	for i := range all {
		a, b := &all[i], &next[i]
		before := len(a.At)
		a.Repeats = append(padded(a.Repeats, before), slices.Repeat([]int{repeat}, len(b.At))...)
		a.At, a.Missing, a.Unread = append(a.At, b.At...), a.Missing+b.Missing, a.Unread+b.Unread
		for _, e := range b.Edges {
			a.Edges = append(a.Edges, result.ScrapeEdge{Repeat: repeat, From: e.From, To: e.To})
		}
		if a.Outside != nil || b.Outside != nil {
			a.Outside = append(padded(a.Outside, before), padded(b.Outside, len(b.At))...)
		}
		for _, s := range b.Series {
			name := s.String()
			k := slices.IndexFunc(a.Series, func(o result.Scraped) bool { return o.String() == name })
			if k < 0 {
				k = len(a.Series)
				a.Series = append(a.Series, result.Scraped{Name: s.Name, Labels: s.Labels, Type: s.Type})
			}
			a.Series[k].Values = append(padded(a.Series[k].Values, before), s.Values...)
		}
		for k := range a.Series {
			a.Series[k].Values = padded(a.Series[k].Values, len(a.At))
		}
	}
	return all
}

// padded appends what is missing to n values.
func padded[T any](values []T, n int) []T { return append(values, make([]T, max(n-len(values), 0))...) }
