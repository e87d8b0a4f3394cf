package executor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestVacuousPlans are plans of which nothing, or not all, that they ask can be shown, with what
// they must come to. Loads are closed, so that a busy machine changes none of it.
func TestVacuousPlans(t *testing.T) {
	const (
		one    = "load: {concurrency: 1}, for: 20 requests"
		ladder = "load: {concurrency: {levels: {from: 1, to: 4, while: latency.p50 < 1ns}}}, for: 20 requests"
	)
	dead := builtin.Config{Errors: 1}
	for _, c := range []struct {
		name   string
		config builtin.Config
		plan   string // lines of the plan besides version and target
		code   int
		reason string // of the run, or of its first assertion
	}{
		{
			"every request fails and only a percentile is asked", dead,
			"stages: [{id: s, " + one + ", assert: [latency.p50 < 1s]}]", 1,
			"1 of 2 assertions failed: default-errors on s: errors.count is 20",
		},
		{
			"every request fails, and may", dead,
			"stages: [{id: s, " + one + ", assert: [latency.p50 < 1s, errors.ratio <= 100%]}]", 3,
			"s/1: no data: latency.p50 has no value",
		},
		{
			"every request fails, and may, and no data is none", dead,
			"stages: [{id: s, " + one + ", assert: [{that: latency.p50 < 1s, on_no_data: fail}, errors.ratio <= " +
				"100%]}]",
			1, "s/1: no data, and on_no_data is fail: latency.p50 has no value",
		},
		{
			"a check that is inside out", dead,
			"stages: [{id: s, " + one + ", assert: [not (latency.p50 > 1s), errors.ratio <= 100%]}]", 3,
			"s/1: no data: latency.p50 has no value",
		},
		{
			"a counter that nothing counts",
			builtin.Config{},
			"stages: [{id: s, " + one + ", assert: [errors.timeout.count > 500]}]", 1,
			"s/1: errors.timeout.count is 0, the limit is 500",
		},
		{
			"a metric that nothing measures",
			builtin.Config{},
			"stages: [{id: s, warmup: 1 request, " + one + ", assert: [connect.p95 < 5ms]}]", 3,
			"s/1: no data: connect.p95 has no value",
		},
		{
			"few samples",
			builtin.Config{},
			"stages: [{id: s, " + one + ", assert: [latency.p99 < 10s]}]", 3,
			"s/1: 279 more requests needed for p99 (have 20 of 299)",
		},
		{
			"all was sent in the warm-up",
			builtin.Config{},
			"data: {generate: random, count: 5, at_end: stop}\nstages: [{id: s, warmup: 5 requests, " + one +
				", assert: [errors.count == 0]}]",
			3, "s/1: no data: errors.count has no value",
		},
		{
			"all was sent in the warm-up, and no data passes",
			builtin.Config{},
			"data: {generate: random, count: 5, at_end: stop}\nstages: [{id: s, warmup: 5 requests, " + one +
				", assert: [{that: errors.count == 0, on_no_data: pass}]}]",
			3, "no request of s was sent while it was measured",
		},
		{
			"all was sent in the warm-up, and the client idles",
			builtin.Config{},
			"data: {generate: random, count: 5, at_end: stop}\nstages: [{id: s, warmup: 5 requests, " + one +
				", assert: [errors.count == 0 or client.memory > 0B]}]",
			3, "default-errors on s: no data: errors.count has no value",
		},
		{
			"the warm-up never ends",
			builtin.Config{},
			"stages: [{id: s, warmup: 60s, max_duration: 200ms, " + one + ", assert: [latency.p50 < 1s]}]", 3,
			"s/1: interrupted: before the measurement began",
		},
		{
			"no level holds",
			builtin.Config{},
			"stages: [{id: s, " + ladder + ", assert: [latency.p50 < 1ns]}]", 3,
			"s/1 on s[concurrency=1]: there is no level to judge it on: latency.p50 < 1ns is not true at the " +
				"first level already",
		},
		{
			"no level holds, and nothing was asked",
			builtin.Config{},
			"stages: [{id: s, " + ladder + "}]", 3,
			"default-errors on s[concurrency=1]: there is no level to judge it on: latency.p50 < 1ns is not true " +
				"at the first level already",
		},
		{
			"no trial holds",
			builtin.Config{},
			"stages: [{id: s, load: {concurrency: {search: {from: 1, to: 4, while: latency.p50 < 1ns}}}, for: 20 " +
				"requests, assert: [capacity >= 1]}]",
			3, "s/1: no data: no level was confirmed",
		},
		{
			"no trial is answered", dead,
			"stages: [{id: s, load: {concurrency: {search: {from: 1, to: 4, while: errors.ratio <= 100%}}}, for: " +
				"20 requests, assert: [capacity >= 1]}]",
			3, "s/1: no data: no level was confirmed",
		},
		{
			"only other failures are counted", dead,
			"stages: [{id: s, " + one + ", assert: [errors.mismatch.count == 0]}]", 1,
			"default-errors on s: errors.count is 20, the limit is 0 = errors.mismatch.count",
		},
		{
			"there is no baseline, and without one nothing is asked",
			builtin.Config{},
			"baseline: {file: none.json, if_missing: skip}\nstages: [{id: s, " + one +
				", assert: [latency.p50 < baseline.latency.p50]}]",
			0, "1 assertion passed",
		},
		{
			"there is no baseline, and every request fails", dead,
			"baseline: {file: none.json, if_missing: skip}\nstages: [{id: s, " + one +
				", assert: [errors.count <= baseline.errors.count]}]",
			1, "default-errors on s: errors.count is 20",
		},
		{
			"there is no baseline",
			builtin.Config{},
			"baseline: none.json\nstages: [{id: s, " + one + ", assert: [latency.p50 < baseline.latency.p50]}]", 3,
			"s/1: no data: baseline.latency.p50: there is no baseline none.json",
		},
		{
			"a named set of nothing", dead, "slos: {all: []}\nstages: [{id: s, " + one + ", assert: [{slo: all}]}]",
			1, "default-errors on s: errors.count is 20",
		},
		{
			"only warnings, and every request fails", dead,
			"stages: [{id: s, " + one + ", assert: [{that: errors.ratio < 1%, severity: warn}]}]", 1,
			"default-errors on s: errors.count is 20",
		},
		{
			"the set-up fails, and errors may happen",
			builtin.Config{},
			"stages: [{id: s, model: nosuch, " + one + ", assert: [errors.ratio <= 100%]}]", 4,
			"s could not be set up",
		},
		{
			"a stage behind one that failed",
			builtin.Config{},
			"stages: [{id: s, " + one + ", assert: [latency.p50 < 1ns]}, {id: b, " + one + "}]", 1,
			"s/1: latency.p50 is",
		},
		{
			"only a stage for failures",
			builtin.Config{},
			"stages: [{id: s, when: never, " + one + "}, {id: b, needs: [], " + one + ", assert: [latency.p50 < 1s]}]",
			0, "2 assertions passed",
		},
		{
			"a bad repeat among good ones",
			builtin.Config{},
			"max_duration: 600ms\nstages: [{id: s, repeat: 9, load: {concurrency: 1, think: 1ms}, for: 250ms, " +
				"assert: [latency.p50 < 1s]}]",
			3, "max_duration of 600ms was over",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.config)
			r := play(t, "version: 1\ntarget: {backend: kserve, url: URL, model: simple, ready: 0s}\n"+c.plan+"\n",
				s.HTTPURL(), Env{})
			if r.ExitCode != c.code || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("exit %d: %s\nwant %d: %s", r.ExitCode, r.Reason, c.code, c.reason)
			}
		})
	}
}

// TestOutsideTheNumbers: what a server does when it is cold, and what a stage does before it, is in
// no number of a stage that warms up; without a warm-up it is.
func TestOutsideTheNumbers(t *testing.T) {
	for _, c := range []struct {
		name, keys, reason string
		code               int
	}{
		{
			"cold, and warmed up",
			"warmup: 2 requests, load: {concurrency: 2}, for: 40 requests, assert: [latency.max < 1s, " +
				"requests.count == 40]",
			"3 assertions passed", 0,
		},
		{
			"cold, and measured",
			"load: {concurrency: 2}, for: 40 requests, assert: [latency.max < 1s, requests.count == 40]",
			"s/1: latency.max is", 1,
		},
		{
			"a call before the stage that takes long",
			`warmup: 2 requests, before: [{call: "POST /admin/slow"}], load: {concurrency: 2}, for: 40 requests, ` +
				`assert: [latency.max < 1s]`,
			"2 assertions passed", 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := watch(t, func(w *witness) { w.dim, w.cold = 4, 2 })
			front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
				if strings.HasPrefix(in.URL.Path, "/admin/") {
					<-time.After(1200 * time.Millisecond)
					return
				}
				w.ServeHTTP(out, in)
			}))
			t.Cleanup(front.Close)
			began := time.Now()
			r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, %s}]
`, c.keys), front.URL, Env{})
			if r.ExitCode != c.code || !strings.Contains(r.Reason, c.reason) ||
				time.Since(began) < 1200*time.Millisecond {
				t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
			}
		})
	}
}
