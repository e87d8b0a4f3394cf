package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestValidPlans compares the typed form of every valid plan with the file beside it.
func TestValidPlans(t *testing.T) {
	files, _ := filepath.Glob("../testdata/plans/valid/*.yaml")
	if len(files) < 5 {
		t.Fatalf("only %d valid plans", len(files))
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			p := readPlanFile(t, path)
			plan, ds := p.parse()
			if plan == nil {
				t.Fatalf("refused:\n%v", ds)
			}
			checkPositions(t, p, ds)
			got := dump(plan) + expectations(path, ds)
			golden := strings.TrimSuffix(path, ".yaml") + ".plan"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("typed plan (-want +got):\n%s", diff)
			}
		})
	}
}

// TestResolvedIsThePlan reads the resolved form of every valid plan as a plan. It must mean the same.
func TestResolvedIsThePlan(t *testing.T) {
	files, _ := filepath.Glob("../testdata/plans/valid/*.yaml")
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			plan, ds := readPlanFile(t, path).parse()
			if plan == nil {
				t.Fatalf("refused:\n%v", ds)
			}
			data, err := json.Marshal(plan.Resolved())
			if err != nil {
				t.Fatal(err)
			}
			again, ds := Parse(path, data, Overrides{})
			if again == nil {
				t.Fatalf("the resolved plan is refused:\n%v\n%s", ds, data)
			}
			if again.Fingerprint() != plan.Fingerprint() {
				second, _ := json.Marshal(again.Resolved())
				t.Errorf("the resolved plan means something else:\n%s", cmp.Diff(string(data), string(second)))
			}
		})
	}
}

// dump writes a plan as an outline without zero values. Positions are LINE:COLUMN.
func dump(p *Plan) string {
	shallow := *p
	shallow.Source, shallow.Warnings, shallow.resolved, shallow.fingerprint = nil, nil, nil, nil
	shallow.File, shallow.Dir = "", ""
	var origins []Origin
	for _, o := range p.Origins() {
		if !o.Plain() {
			origins = append(origins, o)
		}
	}
	var b strings.Builder
	outline(&b, "plan", reflect.ValueOf(shallow), "")
	outline(&b, "origins", reflect.ValueOf(origins), "")
	return b.String()
}

func outline(b *strings.Builder, name string, v reflect.Value, indent string) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.IsZero() && v.Kind() != reflect.Struct && !strings.HasPrefix(name, "- ") {
		return
	}
	switch x := v.Interface().(type) {
	case source.Pos:
		if x != (source.Pos{}) {
			fmt.Fprintf(b, "%s%s %d:%d\n", indent, name, x.Line, x.Column)
		}
		return
	case source.Text:
		fmt.Fprintf(b, "%s%s %q at %d:%d, %s\n", indent, name, x.Text, x.Pos.Line, x.Pos.Column, x.Path)
		return
	case Origin:
		fmt.Fprintf(b, "%s%s%s (%s) from %s", indent, name, x.Path, x.Key, x.From)
		if x.Variable != "" {
			fmt.Fprintf(b, " by variable %s", x.Variable)
		}
		fmt.Fprintf(b, " at %s:%d:%d\n", filepath.Base(x.Pos.File), x.Pos.Line, x.Pos.Column)
		return
	case Secret, fmt.Stringer:
		fmt.Fprintf(b, "%s%s %v\n", indent, name, x)
		return
	case Target:
		if indent != "    " { // the whole target stands in the list of targets
			fmt.Fprintf(b, "%s%s %s\n", indent, name, x.Name)
			return
		}
	case Dataset:
		if indent != "    " {
			fmt.Fprintf(b, "%s%s %s\n", indent, name, x.Name)
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		fmt.Fprintf(b, "%s%s %s\n", indent, name, v.Type().Name())
		for i := range v.NumField() {
			outline(b, v.Type().Field(i).Name, v.Field(i), indent+"  ")
		}
	case reflect.Slice:
		fmt.Fprintf(b, "%s%s\n", indent, name)
		for i := range v.Len() {
			outline(b, "- ", v.Index(i), indent+"  ")
		}
	default:
		fmt.Fprintf(b, "%s%s %#v\n", indent, strings.TrimSpace(name), v.Interface())
	}
}
