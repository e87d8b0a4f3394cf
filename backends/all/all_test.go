package all

import (
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

func TestKinds(t *testing.T) {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
		if k.Help == "" || len(k.Schemes) == 0 || k.Open == nil || !k.Abilities(backends.Target{}).Has(backends.Unary|backends.Tensors|backends.Metadata|backends.Expects) {
			t.Errorf("kind %+v is not complete", k)
		}
		if stats := k.Abilities(backends.Target{}).Has(backends.ServerStats); stats != (len(k.Series) > 0) || stats != slices.Contains(k.Keys, "statistics") {
			t.Errorf("%s: statistics %v with %d series, keys %v", k.Name, stats, len(k.Series), k.Keys)
		}
	}
	if !slices.Equal(names, []string{"kserve", "triton"}) {
		t.Errorf("kinds %v", names)
	}
}
