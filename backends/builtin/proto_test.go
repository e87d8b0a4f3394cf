package builtin

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// TestFieldsAreTritons compares every field and enum value of our .proto file with those that
// Triton publishes.
func TestFieldsAreTritons(t *testing.T) {
	published, err := os.ReadFile("testdata/triton_fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	file := pb.File_backends_builtin_internal_kservepb_kserve_proto
	ours := append(messageFields(file.Messages()), enumValues(file.Enums())...)
	slices.Sort(ours)
	if diff := cmp.Diff(strings.Fields(string(published)),
		strings.Fields(strings.Join(ours, "\n"))); diff != "" {
		t.Error(diff)
	}
}

func messageFields(all protoreflect.MessageDescriptors) (lines []string) {
	for i := range all.Len() {
		m := all.Get(i)
		if m.IsMapEntry() {
			continue
		}
		for k := range m.Fields().Len() {
			f := m.Fields().Get(k)
			kind := f.Kind().String()
			if f.Cardinality() == protoreflect.Repeated {
				kind = "repeated " + kind
			}
			lines = append(lines, fmt.Sprintf("%s = %d %s", f.FullName(), f.Number(), kind))
		}
		lines = append(lines, messageFields(m.Messages())...)
		lines = append(lines, enumValues(m.Enums())...)
	}
	return lines
}

func enumValues(all protoreflect.EnumDescriptors) (lines []string) {
	for i := range all.Len() {
		e := all.Get(i)
		for k := range e.Values().Len() {
			v := e.Values().Get(k)
			lines = append(lines, fmt.Sprintf("%s.%s = %d", e.FullName(), v.Name(), v.Number()))
		}
	}
	return lines
}
