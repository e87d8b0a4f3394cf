package language

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestEverythingIsWritten: the plan that is to hold every key of the language does.
func TestEverythingIsWritten(t *testing.T) {
	text, err := os.ReadFile("../../testdata/plans/valid/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root, _ := source.Parse("everything.yaml", text)
	// Of all its instances
	plain := func(t reflect.Type) string { name, _, _ := strings.Cut(t.Name(), "["); return name }
	written := map[string]bool{}
	var walk func(n *source.Node, t reflect.Type)
	walk = func(n *source.Node, t reflect.Type) {
		if in := inForm(t, n.Kind); in != nil && in.Kind() == reflect.Struct {
			for _, e := range n.Entries {
				written[plain(in)+"."+e.Key] = true
			}
		}
		for _, e := range n.Entries {
			if child := childType(t, e.Key); child != nil {
				if e.Key == "parallel" {
					written["Group.parallel"] = true
				}
				walk(e.Value, child)
			}
		}
		for _, item := range n.Items {
			if child := itemType(t); child != nil {
				walk(item, child)
			}
		}
	}
	walk(root, reflect.TypeFor[Plan]())
	elsewhere := "Plan.extends Plan.profiles Plan.target Plan.data Group.needs Group.when Group.delay"
	for _, typ := range Structs() {
		switch typ {
		case reflect.TypeFor[Defaults](), reflect.TypeFor[Mix](), reflect.TypeFor[Play](),
			reflect.TypeFor[Request](), reflect.TypeFor[PeriodicForm]():
			continue // their keys stand in other maps
		}
		for _, f := range fields(typ) {
			id := plain(typ) + "." + f.key
			if f.key != "" && plain(typ) != "Spread" && !written[id] &&
				!slices.Contains(strings.Fields(elsewhere), id) {
				t.Errorf("%s stands nowhere", id)
			}
		}
	}
}
