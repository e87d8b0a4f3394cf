package artifact

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/artifact/llm"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestUsersLoad: tables name the rate of each user and the number of users; the files of other tools, which
// know only one rate, have that of all.
func TestUsersLoad(t *testing.T) {
	n := &result.Node{ID: "s", Load: result.Load{Kind: "rate", Value: 20, Of: "users", Users: 8}}
	if got := loadText(n); got != "20/s of each of 8 users" {
		t.Error(got)
	}
	if r := llm.Describe(&result.Result{}, n); r.Closed || r.Level != 160 {
		t.Errorf("closed %t, level %g", r.Closed, r.Level)
	}
	if got := (result.Load{Value: 3}).Total(); got != 3 {
		t.Errorf("without users: %g", got)
	}
}
