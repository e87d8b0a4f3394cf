//go:build inprocess

package inprocess

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAbandon: what runs the models of a repository is ended, with the memory that it shares, and
// nothing else.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	mine, other := filepath.Join(dir, "models"), filepath.Join(dir, "models2")
	// start is a process that waits for its input to end, under any name.
	start := func(name, model string) (*exec.Cmd, io.Closer, string) {
		region := filepath.Join("/dev/shm",
			stubRegion+filepath.Base(t.TempDir())+filepath.Base(dir)+filepath.Base(model)+name)
		if err := os.WriteFile(region, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh")
		cmd.Args = []string{filepath.Join(dir, name), "-c", "echo; read x", model, filepath.Base(region)}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Start returns before the kernel has set the arguments that /proc shows: its output says that it runs.
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(region) })
		return cmd, in, region
	}
	for _, c := range []struct {
		name, model string
		gone        bool
	}{
		{stub, filepath.Join(mine, "m", "1", "model.py"), true},
		{stub, filepath.Join(other, "m", "1", "model.py"), false},
		{"sluice", filepath.Join(mine, "m", "1", "model.py"), false},
	} {
		cmd, in, region := start(c.name, c.model)
		killChildren(mine)
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		killed := cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		_, err := os.Stat(region)
		if killed != c.gone || os.IsNotExist(err) != c.gone {
			t.Errorf("%s of %s: killed %t, its memory: %v; want it gone: %t", c.name, c.model, killed, err, c.gone)
		}
	}
}
