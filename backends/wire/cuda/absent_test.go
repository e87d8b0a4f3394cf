//go:build !cuda || !linux

package cuda

import (
	"runtime"
	"strings"
	"testing"
)

// TestAbsent: a binary without it says so, and what to do.
func TestAbsent(t *testing.T) {
	if g, err := Open(0); err == nil || g != nil || !strings.Contains(err.Error(), Missing()) {
		t.Errorf("opened: %v", err)
	}
	if runtime.GOOS == "linux" && !strings.Contains(Missing(), "-tags cuda") {
		t.Error(Missing())
	}
}
