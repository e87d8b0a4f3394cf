package trial

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestConnectHint: a limit of this machine's that a user can raise is named where it keeps
// connections from being made.
func TestConnectHint(t *testing.T) {
	dial := func(code syscall.Errno) error {
		return fmt.Errorf("connect to host:1: %w",
			&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", code)})
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{dial(syscall.EMFILE), "`ulimit -n`"},
		{dial(syscall.ECONNREFUSED), ""},
		{errors.New("x509: certificate is valid for a, not b"), "server_name"},
	} {
		if got := connectHint(c.err, nil); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
