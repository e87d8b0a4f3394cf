package result

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// structure are the names of texts that no plan, server or system can put words into, or whose
// makers mask them. All others must be redacted.
var structure = strings.Fields(`
	Schema Name Version Commit Go File Fingerprint Overlays[] Path From Variable At Value Resolved OS Arch Kernel Hostname CPUModel
	Settings{} Verdict ID SLO Severity Unit Op Stage Point{} Target Kind Of Arrivals Overflow ScheduleHash Transport Outcome Class Code
	Phase Mix Assertion State Files[] Cause Numbers Node Tied[] Where
`)

// TestRedactReachesEveryText puts a secret into every text of a result. Whoever adds a text says
// here that it is structure, or redacts it.
func TestRedactReachesEveryText(t *testing.T) {
	const value = "hunter2"
	var r Result
	plant(reflect.ValueOf(&r).Elem(), value, 0)
	r.Redact(func(s string) string { return strings.ReplaceAll(s, value, "***") })
	var left []string
	remains(reflect.ValueOf(r), value, "", &left)
	var open []string
	for _, path := range left {
		name := path[strings.LastIndexByte(path, '.')+1:]
		// of these: names and units
		if !slices.Contains(structure, name) && !strings.Contains(path, ".Metrics{}.") {
			open = append(open, path)
		}
	}
	if len(open) > 0 {
		t.Errorf("texts that keep a secret:\n%s", strings.Join(open, "\n"))
	}
	if len(left) == 0 || r.Nodes[0].Errors[0].Example != "***" {
		t.Error(cmp.Diff("***", fmt.Sprintf("%+v", r)))
	}
}

// plant fills every text below v, one element in each list and map.
func plant(v reflect.Value, text string, depth int) {
	if depth > 12 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Interface:
		v.Set(reflect.ValueOf(text))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(v.Elem(), text, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			plant(v.Field(i), text, depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(v.Index(0), text, depth+1)
	case reflect.Map:
		e := reflect.New(v.Type().Elem()).Elem()
		plant(e, text, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), e)
	default:
	}
}

// remains lists the paths below v whose text holds the secret.
func remains(v reflect.Value, text, path string, into *[]string) {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), text) {
			*into = append(*into, strings.TrimPrefix(path, "."))
		}
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			remains(v.Elem(), text, path, into)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				remains(v.Field(i), text, path+"."+v.Type().Field(i).Name, into)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			remains(v.Index(i), text, path+"[]", into)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			remains(v.MapIndex(k), text, path+"{}", into)
		}
	default:
	}
}
