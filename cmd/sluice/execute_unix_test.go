//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestExecuteLeavesNothing: what a program leaves behind ends with it, and its output is data all the same.
func TestExecuteLeavesNothing(t *testing.T) {
	t.Parallel()
	out, err := execute(t.Context(), t.TempDir(), []string{"sh", "-c", "sleep 600 & echo $!"}, 1<<20)
	pid := strings.TrimSpace(string(out))
	if err != nil || pid == "" {
		t.Fatalf("%q, %v", out, err)
	}
	for range 1000 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") { // without /proc there is nothing to see
			return
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the kernel says nothing when another's child ends
	}
	t.Errorf("process %s is still there", pid)
}
