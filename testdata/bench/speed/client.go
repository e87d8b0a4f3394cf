package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cost holds the resources of a client's process and the server's counts of it.
type cost struct {
	cpu     time.Duration // user and system, the whole process
	started time.Time
	memory  int64   // VmHWM, bytes
	others  float64 // cores that others used meanwhile: not this client, not the server
	seen
}

// perRequest is CPU µs.
func (c cost) perRequest() float64 { return float64(c.cpu) / 1e3 / float64(c.Count) }

// perSecond is requests as the server saw them.
func (c cost) perSecond() float64 { return float64(c.Count-1) / c.Seconds }

// errExit is a client that ended with a code that says its figures mean nothing.
type errExit struct {
	name string
	code int
	text string
}

func (e *errExit) Error() string { return fmt.Sprintf("%s: exit code %d\n%s", e.name, e.code, e.text) }

// measure runs a client from start to end. Its exit code must be among codes.
func (b *bench) measure(cmd *exec.Cmd, codes ...int) (cost, error) {
	if err := b.server.reset(); err != nil {
		return cost{}, err
	}
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	used, total := b.server.cpu(), machineCPU()
	c := cost{started: time.Now()}
	if err := cmd.Start(); err != nil {
		return c, err
	}
	ended := make(chan int64)
	stop := make(chan struct{})
	go func() { ended <- watchMemory(cmd.Process.Pid, stop) }()
	err := cmd.Wait()
	close(stop)
	c.memory = <-ended
	wall := time.Since(c.started)
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	c.others = (machineCPU() - total - (b.server.cpu() - used) - c.cpu).Seconds() / wall.Seconds()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return c, err
	}
	if code := cmd.ProcessState.ExitCode(); !has(codes, code) {
		return c, &errExit{filepath.Base(cmd.Path), code, text.String()}
	}
	if c.seen, err = b.server.count(); err == nil && c.Count < 2 {
		err = fmt.Errorf("%s: the server saw %d requests\n%s", filepath.Base(cmd.Path), c.Count,
			text.String())
	}
	return c, err
}

func has(codes []int, code int) bool {
	for _, c := range codes {
		if c == code {
			return true
		}
	}
	return code == 0
}

// watchMemory is the highest VmHWM seen. (ru_maxrss would be this process's own where that is larger.)
func watchMemory(pid int, stop <-chan struct{}) (most int64) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
			most = max(most, kib<<10)
		}
		select {
		case <-stop:
			return most
		case <-tick.C:
		}
	}
}

// tick is the unit of times in /proc.
const tick = time.Second / 100

// cpu returns the CPU time of the server.
func (s *server) cpu() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	_, after, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(after) // from state, field 3, on: utime is field 14, stime 15
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * tick
}

// machineCPU returns the CPU time of all processes, interrupts included.
func machineCPU() (sum time.Duration) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	for i, f := range strings.Fields(line) {
		if i == 0 || i == 4 || i == 5 || i > 7 { // the word cpu, idle, iowait, steal's followers
			continue
		}
		n, _ := strconv.ParseInt(f, 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
}

// plan returns the plan for Sluice: one stage without warm-up.
const plan = `version: 1
name: speed
target: {backend: kserve, url: "%s", model: M}
stages:
  - id: s
    load: %s
    for: %s
    assert: [errors.count == 0]
output: {formats: [json]}
`

// The exit codes of Sluice that leave figures: all held, or the client was busy (a saturated
// machine is what a closed loop is here to make).
const invalid = 5

// program returns the path of the Sluice that is measured.
func (b *bench) program() string { return filepath.Join(b.bin, "sluice") }

// sluice runs a plan and makes sure that no request failed.
func (b *bench) sluice(url, load, extent string) (cost, error) {
	return b.sluiceOf(b.program(), url, load, extent)
}

// sluiceOf does the same with another program.
func (b *bench) sluiceOf(program, url, load, extent string) (cost, error) {
	file, out := filepath.Join(b.work, "plan.yaml"), filepath.Join(b.work, "result")
	if err := os.WriteFile(file, fmt.Appendf(nil, plan, url, load, extent), 0o600); err != nil {
		return cost{}, err
	}
	if err := os.RemoveAll(out); err != nil {
		return cost{}, err
	}
	c, err := b.measure(exec.Command(program, "run", file, "--out", out), invalid)
	if err != nil {
		return c, err
	}
	return c, checkResult(filepath.Join(out, "result.json"), c.Count)
}

// checkResult compares what Sluice says with what the server saw: beside the plan's requests there
// may be one that asked whether the model is ready.
func checkResult(file string, count int64) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r struct {
		Nodes []struct {
			Metrics map[string]struct {
				Value *float64 `json:"value"`
			} `json:"metrics"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	if len(r.Nodes) != 1 {
		return fmt.Errorf("%d nodes in the result, not 1", len(r.Nodes))
	}
	errs, sent := r.Nodes[0].Metrics["errors.count"].Value, r.Nodes[0].Metrics["requests.count"].Value
	switch {
	case errs == nil || sent == nil:
		return errors.New("the result lacks errors.count or requests.count")
	case *errs != 0:
		return fmt.Errorf("%.0f requests failed", *errs)
	case int64(*sent) > count || int64(*sent) < count-10:
		return fmt.Errorf("the result says %.0f requests, the server saw %d", *sent, count)
	}
	return nil
}
