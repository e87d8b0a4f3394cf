package builtin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// TestIndex: the index of the repository lists models with their state, over both protocols.
func TestIndex(t *testing.T) {
	s := start(t, Config{})
	if err := s.load("simple", false, ""); err != nil {
		t.Fatal(err)
	}
	want := map[string]indexed{
		"simple": {"simple", "1", "UNAVAILABLE", "unloaded"}, "slow": {"slow", "1", "READY", ""},
	}
	for body, ready := range map[string]bool{"": false, "{}": false, `{"ready":true}`: true} {
		a, err := http.Post(s.HTTPURL()+"/v2/repository/index", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var list []indexed
		err = json.NewDecoder(a.Body).Decode(&list)
		if _ = a.Body.Close(); err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range list {
			if w, ok := want[m.Name]; ok {
				found++
				if m != w || ready && m.State != "READY" {
					t.Errorf("%q: %+v, want %+v", body, m, w)
				}
			}
		}
		if found != map[bool]int{false: 2, true: 1}[ready] {
			t.Errorf("%q: %+v", body, list)
		}
	}
	reply, err := dial(t, s).RepositoryIndex(t.Context(), &pb.RepositoryIndexRequest{})
	if err != nil || len(reply.Models) != len(s.models) {
		t.Errorf("%v %v", reply, err)
	}
}
