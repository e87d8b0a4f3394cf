package grpc

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// TestReflectedFiles: a reply may hold the imports of a file too, in any order; servers that send
// another file, or files without end, are refused.
func TestReflectedFiles(t *testing.T) {
	file := func(name string, imports ...string) string {
		b, err := proto.Marshal(&descriptorpb.FileDescriptorProto{Name: &name, Dependency: imports})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, c := range map[string]struct {
		answer func(name string) []string
		want   string
	}{
		"imports first": {func(string) []string { return []string{file("c"), file("b", "c")} }, ""},
		"another":       {func(string) []string { return []string{file("x")} }, "lacks b: the server sent x instead"},
		"without end": {
			func(name string) []string { return []string{file(name, nextName(name))} }, "more than 10000 files",
		},
	} {
		asked := 0
		_, err := reflectFiles(context.Background(), func(_ context.Context, _ string, q []byte) ([]byte, error) {
			var request struct {
				Name   string `proto:"3"`
				Symbol string `proto:"4"`
			}
			if err := protow.Decode(q, &request); err != nil {
				return nil, err
			}
			list := []string{file("a", "b")}
			if asked++; request.Symbol == "" {
				list = c.answer(request.Name)
			}
			var files []byte
			for _, f := range list {
				files = protow.AppendString(files, 1, f)
			}
			return protow.AppendString(nil, 4, string(files)), nil
		}, &backends.Target{Method: "t.S/C"})
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) || asked > mostFiles {
			t.Errorf("%s: asked %d times, %v, want %q", name, asked, err, c.want)
		}
	}
}

// nextName returns another name than all before it in a row of calls.
func nextName(name string) string {
	n := 0
	_, _ = fmt.Sscanf(name, "f%d", &n)
	return fmt.Sprintf("f%d", n+1)
}
