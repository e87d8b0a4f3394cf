package executor

import (
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// skeleton returns a result before anything has run.
func skeleton(p *scenario.Plan, tool result.Tool, started time.Time) *result.Result {
	r := &result.Result{
		Schema: result.Schema, Tool: tool, Environment: Environment(), Started: started.UTC(),
		Plan: result.Plan{
			Name: p.Name, File: p.File, Description: p.Description, Fingerprint: p.Fingerprint(), Seed: p.Seed,
			Resolved: p.Resolved(), Overlays: p.Overlays, Labels: make(map[string]string),
			Vars: make(map[string]result.Var),
		},
		Clients: []result.Client{}, Nodes: []*result.Node{}, Assertions: []result.Assertion{},
	}
	for _, l := range p.Labels {
		r.Plan.Labels[l.Key] = l.Value
	}
	for _, o := range p.Origins() {
		if !o.Plain() {
			r.Plan.Origins = append(r.Plan.Origins, result.Origin{
				Path: o.Path, From: o.From, Variable: o.Variable, At: o.Pos.String(),
			})
		}
	}
	for _, v := range p.Vars {
		text := v.Text
		if v.Secret {
			text = scenario.NewSecret(text).String()
		}
		r.Plan.Vars[v.Name] = result.Var{Value: text, From: v.From}
	}
	return r
}

// Environment returns the machine and process that would measure.
func Environment() result.Environment {
	host, _ := os.Hostname()
	e := result.Environment{
		OS:         runtime.GOOS,
		Arch:       runtime.GOARCH,
		Hostname:   host,
		CPUs:       runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		Kernel:     line("/proc/sys/kernel/osrelease", ""),
		CPUModel:   line("/proc/cpuinfo", "model name"),
		Settings:   map[string]string{},
	}
	gogc := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	if metrics.Read(gogc); gogc[0].Value.Kind() == metrics.KindUint64 {
		e.Settings["gogc"] = strconv.FormatUint(gogc[0].Value.Uint64(), 10)
	}
	return e
}

// line returns a file's first line, or what follows the colon in the first that starts with key.
func line(file, key string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(data)) {
		if key == "" {
			return strings.TrimSpace(l)
		}
		if rest, ok := strings.CutPrefix(l, key); ok {
			_, value, _ := strings.Cut(rest, ":")
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// blank returns a node's result before it has run: what was asked of it.
func blank(p *program.Program, n *program.Node) *result.Node {
	s := n.Stage
	out := &result.Node{
		ID: n.ID, Stage: s.ID, Point: n.PointMap(), Description: s.Description,
		Labels: make(map[string]string),
		Target: strings.Join(n.TargetNames(), ", "), Metrics: make(map[string]*result.Metric),
		Slices: []result.Slice{}, Errors: []result.ErrorClass{}, Assertions: []result.Assertion{},
		Validity: validity(s),
		Load:     n.Load.Stored,
	}
	out.Load.Ramp = slices.Clone(out.Load.Ramp) // an attempt fills it in
	for _, l := range slices.Concat(p.Plan.Labels, s.Labels) {
		out.Labels[l.Key] = l.Value
	}
	return out
}

// validity returns the validity of a stage before anything is found.
func validity(s *scenario.Stage) result.Validity {
	return result.Validity{
		OK: true, Findings: []result.Finding{},
		Limits: &result.ValidityLimits{
			SendDelay: s.Validity.SendDelay.Seconds(), Pause: s.Validity.Pause.Seconds(),
			Paused: s.Validity.Paused,
		},
	}
}

// clientHealth sums up how this process fared over the whole run.
func clientHealth(nodes []*result.Node, now int64) result.Client {
	p := observe.ReadClient(now)
	c := result.Client{
		Summary: clientSummary(nodes), CPUSeconds: float64(max(p.CPU, 0)) / 1e9,
		MaxRSS: max(p.PeakRSS, 0),
	}
	for _, n := range nodes {
		if m := n.Metrics[metric.ClientCPU]; m != nil && m.Value != nil {
			c.CPUShare = max(c.CPUShare, *m.Value)
		}
	}
	return c
}
