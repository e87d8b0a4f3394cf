package expression

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestBareNumberBesideRatio: no ratio of the catalogue is compared with, added to or subtracted
// from a constant without a unit, on either side of an operator. Measured numbers and factors have
// no unit and stay.
func TestBareNumberBesideRatio(t *testing.T) {
	catalogue, err := metric.New(metric.GoodputRows()...)
	if err != nil {
		t.Fatal(err)
	}
	scope := testScope{catalogue}
	ratios := 0
	for _, row := range scope.catalogue.Rows() {
		if row.Dim != metric.Ratio {
			continue
		}
		ratios++
		leaf := row.Leaves()[0]
		for _, form := range []string{
			"M < 1", "M <= 0.5", "M > 0.99", "M >= 99", "1 > M", "0.5 >= M", "0 < M", "1 <= M", "M < ${x}", "M < 2 * 0.5", "M < -1",
			"1 - M < 5%", "M - 1 < 5%", "M + 0.1 < 5%", "0.1 + M < 5%", "min(M, 1) < 5%", "max(0.1, M) < 5%", "max(1%, M, 2) < 5%",
			"abs(1 - M) < 5%", "5% < 1 - M", "not (M < 1)", "M < 1% or M < 1",
		} {
			expr := strings.ReplaceAll(form, "M", leaf)
			p, ds := Compile(text(expr), scope)
			wrong := slices.DeleteFunc(ds, func(d source.Diagnostic) bool { return d.Severity == source.Warning })
			if p != nil || len(wrong) != 1 || wrong[0].Code != codeType || !strings.Contains(wrong[0].Detail, "%") {
				t.Errorf("%s: %v", expr, wrong)
			}
		}
		for _, form := range []string{
			"M < 1%", "M / 2 < 1%", "0.5 * M < 1%", "M * 2 < 1%", "M < 0.5 * M + 1%", "M / M < 1.1", "M < errors.count / requests.count",
			`M < scrape("x").max`, "M < 1 + errors.count / requests.count", "errors.count / requests.count < 1%", "errors.count / requests.count < 0.01",
			`scrape("x").max < 0.9`, "max(M, errors.count / requests.count) < 1%",
		} {
			expr := strings.ReplaceAll(form, "M", leaf)
			if _, ds := Compile(text(expr), scope); ds.HasErrors() {
				t.Errorf("%s: %v", expr, ds)
			}
		}
	}
	if ratios < 8 {
		t.Errorf("%d ratios in the catalogue", ratios)
	}
}
