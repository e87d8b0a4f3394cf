package observe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// quota returns the least CPU limit, in CPUs, of this process's control group and its ancestors; 0:
// no limit.
//
//	version 2  PATH/cpu.max                              "200000 100000" or "max 100000"
//	version 1  cpu/PATH/cpu.cfs_quota_us, cfs_period_us  -1: no limit
func quota(proc, root string) float64 {
	text, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return 0
	}
	least := 0.0
	for line := range bytes.Lines(text) { // ID:CONTROLLERS:PATH; version 2 has ID 0 and no controllers
		f := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(f) != 3 {
			continue
		}
		for dir := filepath.Clean("/" + f[2]); ; dir = filepath.Dir(dir) {
			if q := groupQuota(root, f[1], dir); q > 0 && (least == 0 || q < least) {
				least = q
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

// groupQuota returns the limit of one group, 0 if it has none.
func groupQuota(root, controllers, dir string) float64 {
	if controllers == "" {
		text, err := os.ReadFile(filepath.Join(root, dir, "cpu.max"))
		if err != nil {
			return 0
		}
		f := strings.Fields(string(text))
		if len(f) != 2 {
			return 0
		}
		return ratio(f[0], f[1])
	}
	for _, c := range strings.Split(controllers, ",") {
		if c != "cpu" {
			continue
		}
		for _, mount := range []string{"cpu", controllers} {
			q, err := os.ReadFile(filepath.Join(root, mount, dir, "cpu.cfs_quota_us"))
			p, err2 := os.ReadFile(filepath.Join(root, mount, dir, "cpu.cfs_period_us"))
			if err == nil && err2 == nil {
				return ratio(strings.TrimSpace(string(q)), strings.TrimSpace(string(p)))
			}
		}
	}
	return 0
}

// ratio returns quota over period; 0 for "max", -1 and anything else that is no limit.
func ratio(quota, period string) float64 {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || !(q > 0) || !(p > 0) {
		return 0
	}
	return q / p
}
