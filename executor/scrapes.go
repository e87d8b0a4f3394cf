package executor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// scrapeLimit is how long one answer of a metrics endpoint may take.
const scrapeLimit = 5 * time.Second

// maxScraped caps the values that are kept of one endpoint for one node.
const maxScraped = 1_000_000

// endpoint is the Prometheus endpoint of a target, open.
type endpoint struct {
	target *target
	url    string
	client *http.Client
}

// metricsURL is where the metrics of a target are: its own URL, or a path on the target's host.
func metricsURL(t *scenario.Target, at string) (string, error) {
	if !strings.HasPrefix(t.Metrics.URL, "/") {
		return t.Metrics.URL, nil
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the metrics of target %q are at a path, and its URL is not of HTTP: give a whole URL", t.Name)
	}
	u.Path, u.RawQuery = "", ""
	return strings.TrimSuffix(u.String(), "/") + t.Metrics.URL, nil
}

// openMetrics opens the metrics endpoint of a target and reads it once: one that cannot be read fails the target.
func (r *runner) openMetrics(ctx context.Context, t *target) error {
	where, err := metricsURL(t.plan, t.url)
	if err != nil {
		return err
	}
	e := &endpoint{target: t, url: where}
	if e.client, err = observe.ClientFor(where, program.TargetOf(t.kind, t.plan).TLS); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	r.clean.push("close the metrics endpoint of target "+t.plan.Name, func(context.Context) error {
		e.client.CloseIdleConnections()
		return nil
	})
	if _, err := e.read(ctx); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	t.metrics = e
	return nil
}

func (e *endpoint) read(ctx context.Context) ([]observe.Sample, error) {
	ctx, cancel := beyond(ctx, scrapeLimit)
	defer cancel()
	list, err := observe.Scrape(ctx, e.client, e.url, e.target.plan.Metrics.Match)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("GET %s: no answer within %v", e.url, scrapeLimit)
	}
	return list, err
}

// scraper reads the endpoints of a trial before its clock starts, at the start of hold, every `every`, and at the end.
type scraper struct {
	list []*scraping
}

// scraping is what one endpoint said.
type scraping struct {
	*endpoint
	due    int64 // run clock
	held   bool  // hold has begun
	behind bool  // a reading is due while one is open
	left   int   // readings that were left out so
	asking sync.Mutex
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
	samples []observe.Sample
}

// look reads what is due. last: hold is over.
func (s *scraper) look(ctx context.Context, t *trial, now int64, last bool) {
	if s.list == nil {
		for _, to := range t.in.pools {
			if to.metrics != nil {
				s.list = append(s.list, &scraping{endpoint: to.metrics, due: now})
			}
		}
	}
	hold := t.control.HoldStart.Load()
	for _, x := range s.list {
		if !x.held && hold > 0 && now >= hold {
			x.held, x.due = true, now
		}
		if now < x.due && !last {
			continue
		}
		if !last && !x.asking.TryLock() {
			x.behind = true // the endpoint is slower than `every`
			continue
		}
		for n, every := 0, int64(x.target.plan.Metrics.Every); x.due <= now; n++ {
			if x.due += every; x.behind && n > 0 {
				x.left++
			}
		}
		x.behind = false
		t.watch.asking.Go(func() {
			if last { // after the one that is open
				x.asking.Lock()
			}
			defer x.asking.Unlock()
			x.take(ctx, t)
		})
	}
}

// take reads once.
func (x *scraping) take(ctx context.Context, t *trial) {
	from := t.r.clock.Now()
	samples, err := x.read(ctx)
	took := t.r.clock.Now() - from
	at := from + took/2
	x.most = max(x.most, took)
	switch {
	case err != nil:
		x.failed, x.err = x.failed+1, err
	case x.values+len(samples) > maxScraped:
		x.missed++
	default:
		x.values += len(samples)
		x.taken = append(x.taken, scraped{at, samples})
	}
}

// result is what is stored of the readings in a span of hold. warm: requests were sent before it.
func (x *scraping) result(hold int64, span measure.Span, warm bool) result.Scrape {
	out := result.Scrape{Target: x.target.plan.Name, Missing: x.missed, At: []float64{}}
	index := map[string]int{}
	slices.SortFunc(x.taken, func(a, b scraped) int { return int(a.at - b.at) })
	const late = int64(scrapeLimit) // the last one is asked for when the span ends
	inside := x.taken[:0:0]
	for _, s := range x.taken {
		if s.at >= hold+span.From && s.at <= hold+span.To+late {
			inside = append(inside, s)
		}
	}
	if before := len(x.taken) - len(inside); before > 0 && (!warm || len(inside) < 2) && x.taken[0].at < hold {
		inside = slices.Concat(x.taken[:1], inside) // nothing happened between that one and the start
	}
	if x.failed > 0 && !x.covers(inside, hold+span.From, hold+span.To) {
		out.Unread = x.failed
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
				out.Series = append(out.Series, result.Scraped{Name: v.Series.Name, Labels: labels, Type: v.Series.Type})
			}
			values := &out.Series[i].Values
			for len(*values) < len(out.At)-1 {
				*values = append(*values, nil)
			}
			*values = append(*values, &v.V)
		}
	}
	for i := range out.Series {
		for values := &out.Series[i].Values; len(*values) < len(out.At); {
			*values = append(*values, nil)
		}
	}
	return out
}

// covers reports whether there are readings of both ends of a span: the last one is asked for when it ends.
func (x *scraping) covers(list []scraped, from, to int64) bool {
	return len(list) > 0 && list[0].at <= from+int64(x.target.plan.Metrics.Every) && list[len(list)-1].at >= to
}

// scrapes are the readings of a trial, and notes about those that failed.
func (t *trial) scrapes(hold int64, span measure.Span) (list []result.Scrape) {
	for _, x := range t.watch.scraper.list {
		if x.failed > 0 {
			t.note("metrics", "%d of %d readings of the metrics endpoint of target %s failed, the last: %s", x.failed, x.failed+len(x.taken), x.target.plan.Name, x.err)
		}
		if every := x.target.plan.Metrics.Every; x.left > 0 && time.Duration(x.most) > every {
			t.note("metrics", "the metrics endpoint of target %s took up to %v to answer, and is to be read every %s: %d readings were left out",
				x.target.plan.Name, time.Duration(x.most).Round(time.Millisecond), source.Duration(every), x.left)
		}
		list = append(list, x.result(hold, span, !t.node.Stage.Warmup.IsZero() || span.From > 0))
	}
	return list
}

// joinScrapes adds those of the next repeat.
func joinScrapes(all, next []result.Scrape, repeat int) []result.Scrape {
	if repeat == 0 {
		return next
	}
	if len(all) != len(next) {
		return all
	}
	for i := range all {
		a, b := &all[i], &next[i]
		for len(a.Repeats) < len(a.At) {
			a.Repeats = append(a.Repeats, 0)
		}
		before := len(a.At)
		a.At, a.Missing, a.Unread = append(a.At, b.At...), a.Missing+b.Missing, a.Unread+b.Unread
		for range b.At {
			a.Repeats = append(a.Repeats, repeat)
		}
		for _, s := range b.Series {
			k := slices.IndexFunc(a.Series, func(o result.Scraped) bool { return o.String() == s.String() })
			if k < 0 {
				k = len(a.Series)
				a.Series = append(a.Series, result.Scraped{Name: s.Name, Labels: s.Labels, Type: s.Type, Values: make([]*float64, before)})
			}
			a.Series[k].Values = append(a.Series[k].Values, s.Values...)
		}
		for k := range a.Series {
			for len(a.Series[k].Values) < len(a.At) {
				a.Series[k].Values = append(a.Series[k].Values, nil)
			}
		}
	}
	return all
}
