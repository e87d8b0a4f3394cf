package executor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestCleanUpOfACutOffRun: a server that hangs holds up the clean-up of a run that was cut off no
// longer than anything else.
func TestCleanUpOfACutOffRun(t *testing.T) {
	for name, c := range map[string]struct {
		cutOff bool
		want   time.Duration
	}{"ended": {false, cleanupLimit}, "cut off": {true, 2 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cutOff := context.WithCancel(context.Background())
				defer cutOff()
				if c.cutOff {
					cutOff()
				}
				var steps cleanup
				steps.push("restore what the server had", func(ctx context.Context) error {
					<-ctx.Done()
					return ctx.Err()
				})
				if err := steps.run(ctx); err == nil || time.Since(began) != c.want {
					t.Errorf("over after %v, want %v: %v", time.Since(began), c.want, err)
				}
			})
		})
	}
}
