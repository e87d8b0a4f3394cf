package observe

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// availableCPUs returns the least of cpus and the CPU limits of this process's control group and its
// ancestors.
//
//	version 2  PATH/cpu.max                              "200000 100000" or "max 100000"
//	version 1  cpu/PATH/cpu.cfs_quota_us, cfs_period_us  -1: no limit
func availableCPUs(cpus float64, proc, root string) float64 {
	text, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return cpus
	}
	for line := range bytes.Lines(text) { // ID:CONTROLLERS:PATH; version 2 has ID 0 and no controllers
		f := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(f) != 3 {
			continue
		}
		for dir := filepath.Clean("/" + f[2]); ; dir = filepath.Dir(dir) {
			cpus = min(cpus, groupQuota(root, f[1], dir))
			if dir == "/" {
				break
			}
		}
	}
	return cpus
}

// groupQuota returns the limit of one group, infinity if it has none.
func groupQuota(root, controllers, dir string) float64 {
	read := func(path ...string) string {
		text, _ := os.ReadFile(filepath.Join(path...)) // a file that cannot be read is no limit
		return strings.TrimSpace(string(text))
	}
	if controllers == "" {
		quota, period, _ := strings.Cut(read(root, dir, "cpu.max"), " ")
		return ratio(quota, period)
	}
	least := math.Inf(1)
	if slices.Contains(strings.Split(controllers, ","), "cpu") {
		for _, mount := range []string{"cpu", controllers} {
			at := filepath.Join(root, mount, dir)
			least = min(least, ratio(read(at, "cpu.cfs_quota_us"), read(at, "cpu.cfs_period_us")))
		}
	}
	return least
}

// ratio returns quota over period; infinity for "max", -1 and anything else that is no limit.
func ratio(quota, period string) float64 {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || !(q > 0) || !(p > 0) {
		return math.Inf(1)
	}
	return q / p
}
