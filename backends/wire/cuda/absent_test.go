//go:build !cuda || !linux

package cuda

import (
	"runtime"
	"strings"
	"testing"
)

// TestAbsent: a binary without it says so, and what to do.
func TestAbsent(t *testing.T) {
	if g, err := Open(0); err == nil || g != nil || !strings.Contains(err.Error(), MissingReason()) {
		t.Errorf("opened: %v", err)
	}
	if runtime.GOOS == "linux" && !strings.Contains(MissingReason(), "-tags cuda") {
		t.Error(MissingReason())
	}
}
