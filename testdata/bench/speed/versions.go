package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	versions = 15   // pairs of turns
	pace     = 5000 // requests a second of the open loop
	checks   = 5000 // assertions of the plan that is validated
)

// bar judges the 95% interval of the ratio new/old.
type bar func(low, high float64) string

// within is the bar that the whole interval lies below most: the new version is shown to cost no more
// than that.
func within(most float64) bar {
	return func(_, high float64) string { return "upper end " + atMost(high, most) }
}

// notWorse is the bar that the interval does not lie above 1 as a whole: the new version is not shown to
// be worse.
func notWorse(low, _ float64) string { return "lower end " + atMost(low, 1) }

// versionsStep compares the programs b.old and b.program(): each figure of one version has the same
// figure of the other beside it, measured within seconds, and who goes first alternates.
func (b *bench) versionsStep() error {
	if b.old == "" {
		return fmt.Errorf("name the other program with -old")
	}
	b.out.head(fmt.Sprintf("two versions, %d pairs of turns", versions),
		"old", "new", "new/old", "95% interval", "bar")
	for _, url := range []string{"http://" + b.server.HTTP, "grpc://" + b.server.GRPC} {
		for _, n := range []int{1, 16, 64} {
			name := fmt.Sprintf("CPU µs a request, %s, %d in flight", url[:4], n)
			err := b.compare(name, within(1.05), func(program string) (float64, error) {
				c, err := b.sluiceOf(program, url, fmt.Sprintf("{concurrency: %d}", n), b.each.String())
				return c.perRequest(), err
			})
			if err != nil {
				return err
			}
		}
	}
	name := fmt.Sprintf("lateness p99 µs, http, %d/s", pace)
	err := b.compare(name, notWorse, func(program string) (float64, error) {
		load := fmt.Sprintf("{rate: %d/s, max_in_flight: 64}", pace)
		if _, err := b.sluiceOf(program, "http://"+b.server.HTTP, load, b.each.String()); err != nil {
			return 0, err
		}
		l, err := b.server.lateness(pace, int(pace*b.each.Seconds()))
		return l.P99, err
	})
	if err != nil {
		return err
	}
	file := filepath.Join(b.work, "checks.yaml")
	if err := os.WriteFile(file, manyChecks(), 0o600); err != nil {
		return err
	}
	name = fmt.Sprintf("CPU ms to validate %d assertions", checks)
	return b.compare(name, notWorse, func(program string) (float64, error) {
		var text bytes.Buffer
		cmd := exec.Command(program, "validate", file)
		cmd.Stdout, cmd.Stderr = &text, &text
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("%w\n%s", err, text.String())
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		return float64(used) / float64(time.Millisecond), nil
	})
}

// compare measures both versions in pairs and adds a row.
func (b *bench) compare(name string, judge bar, measure func(program string) (float64, error)) error {
	var before, after, logs []float64
	for i := range versions {
		var pair [2]float64 // old, new
		for k := range 2 {
			which := (i + k) % 2
			v, err := measure([]string{b.old, b.program()}[which])
			if err != nil {
				return err
			}
			pair[which] = v
		}
		before, after = append(before, pair[0]), append(after, pair[1])
		logs = append(logs, math.Log(pair[1]/pair[0]))
	}
	mean, half := interval(logs)
	low, high := math.Exp(mean-half), math.Exp(mean+half)
	b.out.row(name, middle(before), middle(after), math.Exp(mean), fmt.Sprintf("%.3f–%.3f", low, high),
		judge(low, high))
	return nil
}

// interval returns the mean of the values and half the width of its 95% confidence interval by
// Student's t.
func interval(values []float64) (mean, half float64) {
	const t = 2.145 // 0.975 quantile of Student's t with versions-1 = 14 degrees of freedom
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, t * math.Sqrt(squares/(n-1)/n)
}

// manyChecks returns a plan of 500 stages with ten assertions each, whose limits all differ.
func manyChecks() []byte {
	const each = 10
	var text strings.Builder
	text.WriteString("version: 1\ntarget: {backend: triton, url: \"http://h:1\", model: m}\nstages:\n")
	for i := range checks / each {
		fmt.Fprintf(&text, "  - {id: s%d, load: {rate: 100/s}, for: 10s, assert: [", i)
		for j := range each {
			fmt.Fprintf(&text, "latency.p99 < %dms, ", 50+j+each*i)
		}
		text.WriteString("]}\n")
	}
	return []byte(text.String())
}
