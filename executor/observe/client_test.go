package observe

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestReadClientFiles(t *testing.T) {
	root := tree(t, map[string]string{
		"self/status":  "Name:\tsluice\nVmPeak:\t  99 kB\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n",
		"pressure/cpu": "some avg10=4.10 avg60=2.42 avg300=4.46 total=45068762\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"stat":         "cpu  100 1 20 800 7 2 30 40 11 0\ncpu0 100 1 20 800 7 2 30 40 11 0\nintr 9\n",
	})
	c := readClient(7, root)
	if c.At != 7 || c.PeakRSS != 2<<20 || c.Starved != 45068762_000 || c.Stolen != 40 ||
		c.Ticks != 1000 {
		t.Errorf("snapshot = %+v", c)
	}
}

// What a system does not tell is -1, never 0.
func TestReadClientWithoutFiles(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"nothing": {},
		"nonsense": {
			"self/status": "VmRSS:\nVmHWM: many kB\n", "pressure/cpu": "some total=\n", "stat": "cpu a b c d e f g h i\n",
		},
		"old": {"pressure/cpu": "full avg10=0.00 total=3\n", "stat": "cpu 1 2 3 4 5 6 7\n"},
	} {
		c := readClient(0, tree(t, files))
		if c.PeakRSS != -1 || c.Starved != -1 || c.Stolen != -1 || c.Ticks != -1 {
			t.Errorf("%s: snapshot = %+v", name, c)
		}
	}
}

// This process, for real: work shows up as CPU time and memory.
func TestReadClientOfThisProcess(t *testing.T) {
	a := ReadClient(0)
	sink := 0
	for b := a; b.CPU-a.CPU < 20e6; b = ReadClient(0) {
		for i := range 1_000_000 {
			sink += i * i
		}
	}
	runtime.KeepAlive(sink)
	b := ReadClient(50e6)
	u := Between(a, b, 2)
	if u.CPU < 20e6 || u.Share < 0.2 || u.Memory < 1<<20 {
		t.Errorf("use = %+v", u)
	}
	if got := AvailableCPUs(); got <= 0 || got > float64(runtime.NumCPU()) {
		t.Errorf("Allowed() = %v of %d CPUs", got, runtime.NumCPU())
	}
}

func TestBetween(t *testing.T) {
	a := Client{At: 1e9, CPU: 150, PeakRSS: 10, Starved: 7, Stolen: 5, Ticks: 1000}
	b := Client{At: 3e9, CPU: 34e8 + 150, PeakRSS: 20, Starved: 9, Stolen: 15, Ticks: 1400}
	want := Use{Wall: 2e9, CPU: 34e8, Share: 0.85, Memory: 20, Starved: 2, Stolen: 0.025}
	if diff := cmp.Diff(want, Between(a, b, 2)); diff != "" {
		t.Error(diff)
	}
	tests := []struct {
		name string
		a, b Client
		cpus float64
	}{
		{"no time", a, a, 2},
		{"no CPUs", a, b, 0},
		{"unknown", Client{CPU: -1}, b, 2},
		{"back", b, Client{At: 4e9, CPU: 1}, 2},
	}
	for _, tt := range tests {
		if u := Between(tt.a, tt.b, tt.cpus); u.Share != -1 {
			t.Errorf("%s: share = %v, want unknown", tt.name, u.Share)
		}
	}
	if u := Between(Client{CPU: -1}, b, 2); u.CPU != -1 {
		t.Errorf("CPU of the unknown = %d", u.CPU)
	}
}

func TestQuota(t *testing.T) {
	tests := []struct {
		name   string
		self   string
		cgroup map[string]string
		want   float64
	}{
		{"version 2", "0::/a/b\n", map[string]string{"a/b/cpu.max": "150000 100000\n"}, 1.5},
		{"version 2, no limit", "0::/a\n", map[string]string{"a/cpu.max": "max 100000\n"}, 8},
		{
			"the group above is tighter", "0::/a/b\n",
			map[string]string{"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "50000 100000"},
			0.5,
		},
		{"root of a container", "0::/\n", map[string]string{"cpu.max": "200000 100000\n"}, 2},
		{"more than there are", "0::/\n", map[string]string{"cpu.max": "9900000 100000\n"}, 8},
		{"version 1", "4:memory:/x\n3:cpu,cpuacct:/x\n", map[string]string{
			"cpu,cpuacct/x/cpu.cfs_quota_us": "300000\n", "cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
		}, 3},
		{
			"version 1 by its link", "1:cpu:/\n",
			map[string]string{"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "50000"},
			2,
		},
		{
			"version 1, no limit", "1:cpu:/\n",
			map[string]string{"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"},
			8,
		},
		{
			"nonsense", "what\n0::/../../etc\n",
			map[string]string{"cpu.max": "many 0\n", "etc/cpu.max": "1 2 3\n"},
			8,
		},
		{"no groups", "", nil, 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			proc := tree(t, map[string]string{"self/cgroup": tt.self})
			if got := availableCPUs(8, proc, tree(t, tt.cgroup)); got != tt.want {
				t.Errorf("allowed = %v, want %v", got, tt.want)
			}
		})
	}
	if got := availableCPUs(8, t.TempDir(), t.TempDir()); got != 8 {
		t.Errorf("allowed without any file = %v", got)
	}
}

func TestGaps(t *testing.T) {
	var g GapMeter
	for _, now := range []int64{5, 15, 25, 325, 335} {
		g.Tick(now)
	}
	if g.Longest != 300 {
		t.Errorf("longest = %d, want 300", g.Longest)
	}
}
