package grpcraw

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// TestBinaryMetadata: the value of a name that ends in -bin is bytes, given in base64.
func TestBinaryMetadata(t *testing.T) {
	p := &Pool{o: Options{Headers: []backends.Header{{Name: "Trace-Bin", Value: "/wD+"}, {Name: "a", Value: "b"}}}}
	n, err := p.internMetadata([]backends.Header{{Name: "user-bin", Value: "AQ=="}})
	if err != nil {
		t.Fatal(err)
	}
	md := p.metadata(n).md
	if got := md.Get("trace-bin"); len(got) != 1 || got[0] != "\xff\x00\xfe" || md.Get("user-bin")[0] != "\x01" {
		t.Errorf("%q", md)
	}
	fields := ""
	for _, f := range p.fields("/s/M", p.metadata(n)) {
		fields += f.Name + "=" + f.Value + " "
	}
	if !strings.Contains(fields, "a=b trace-bin=/wD+ user-bin=AQ ") {
		t.Errorf("sent as %s", fields)
	}
	secret := backends.Header{Name: "x-bin", Value: "sec ret"}
	if err := CheckHeader(secret); err == nil || !strings.HasPrefix(err.Error(), "the value of header x-bin is not base64") ||
		strings.Contains(err.Error(), "sec") {
		t.Errorf("no base64: %v", err)
	}
}

// TestDetails: a status of grpc-go is shown with its details too.
func TestDetails(t *testing.T) {
	st, err := status.New(codes.InvalidArgument, "no").WithDetails(durationpb.New(5))
	if err != nil {
		t.Fatal(err)
	}
	if got := details(st); got != " [Duration]" {
		t.Errorf("%q", got)
	}
	if got := details(status.New(codes.NotFound, "no")); got != "" {
		t.Errorf("%q", got)
	}
}
