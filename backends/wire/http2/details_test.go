package http2

import (
	"encoding/base64"
	"testing"

	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// detailed encodes a google.rpc.Status with details: pairs of the name of a type and its fields 1, 2 …
func detailed(list ...[]string) string {
	status := protow.AppendUint(nil, 1, 3)
	for _, d := range list {
		var value []byte
		for i, text := range d[1:] {
			if text != "" {
				value = protow.AppendString(value, protow.Number(i+1), text)
			}
		}
		entry := protow.AppendString(nil, 1, "type.googleapis.com/google.rpc."+d[0])
		status = protow.AppendString(status, 3, protow.AppendString(entry, 2, value))
	}
	return base64.RawStdEncoding.EncodeToString(status)
}

// TestDetails: a note has the details of a status after its message.
func TestDetails(t *testing.T) {
	violation := string(protow.AppendString(protow.AppendString(nil, 1, "name"), 2, "is empty"))
	for _, c := range []struct{ field, want string }{
		{detailed([]string{"BadRequest", violation}), " [BadRequest name: is empty]"},
		{detailed([]string{"ErrorInfo", "NO_GPU", "acme.com"}), " [ErrorInfo NO_GPU, acme.com]"},
		{
			detailed([]string{"DebugInfo", "", "line 5"}, []string{"RetryInfo", "x"}),
			" [DebugInfo line 5; RetryInfo]",
		},
		{detailed([]string{"RetryInfo", "\x08\x02\x10\x80\xca\xb5\xee\x01"}), " [RetryInfo after 2.5s]"},
		{detailed([]string{"ResourceInfo", "model", "m", "", "is loading"}), " [ResourceInfo model m, is loading]"},
		{
			detailed([]string{"PreconditionFailure", string(protow.AppendString(protow.AppendString(
				protow.AppendString(nil, 1, "TOS"), 2, "acme"), 3, "not accepted"))}),
			" [PreconditionFailure TOS acme: not accepted]",
		},
		{detailed([]string{"BadRequest", "\xff"}), " [BadRequest]"},
		{detailed(), ""},
		{"!", ""},
		{base64.StdEncoding.EncodeToString([]byte{0xff}), ""},
	} {
		if got := details(c.field); got != c.want {
			t.Errorf("%s: %q, want %q", c.field, got, c.want)
		}
		p := newPair(t)
		_, s := p.begins(call("x"))
		p.write(good + " grpc-status=3 grpc-message=no grpc-status-details-bin=" + c.field + "!")
		p.Feed(p.says(), 1)
		if want := "InvalidArgument: no" + c.want; c.field != "!" && string(s.Note) != want {
			t.Errorf("note %q, want %q", s.Note, want)
		}
	}
}
