package shm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func key(t *testing.T) string {
	return fmt.Sprintf("/sluice-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
}

func TestRegion(t *testing.T) {
	r, err := New(key(t), 5000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if len(r.Bytes()) != 5000 || bytes.ContainsFunc(r.Bytes(), func(c rune) bool { return c != 0 }) {
		t.Errorf("%d bytes, not all zero", len(r.Bytes()))
	}
	copy(r.Bytes(), "from here")
	other, err := os.OpenFile(dir+r.Key(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	mapped, err := unix.Mmap(int(other.Fd()), 0, 5000, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil || string(mapped[:9]) != "from here" {
		t.Fatalf("another mapping reads %q: %v", mapped[:9], err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	if err := r.Unlink(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir + r.Key()); !os.IsNotExist(err) {
		t.Errorf("the name is still there: %v", err)
	}
	copy(mapped, "from there") // both keep the memory without its name
	if string(r.Bytes()[:10]) != "from there" {
		t.Errorf("reads %q", r.Bytes()[:10])
	}
	if err := errors.Join(r.Close(), r.Close(), r.Unlink()); err != nil {
		t.Error(err)
	}
}

func TestRegionRefused(t *testing.T) {
	free, err := available()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key  string
		size int64
	}{
		"no slash": {"x", 1}, "two slashes": {"/a/b", 1}, "no name": {"/", 1}, "no size": {key(t), 0},
		"more than there is": {key(t), free + 1<<30},
	} {
		r, err := New(c.key, c.size)
		if err == nil {
			_ = r.Close()
			t.Errorf("%s: made", name)
		}
		var none *NoMemoryError
		if big := name == "more than there is"; big != errors.As(err, &none) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(dir + key(t)); !os.IsNotExist(err) {
		t.Errorf("a region that was refused left its name: %v", err)
	}
	var none *NoMemoryError
	if err := CheckFree(free * 2); !errors.As(err, &none) || none.Free <= 0 {
		t.Errorf("room for all and more: %v", err)
	}
	if err := CheckFree(1); err != nil {
		t.Error(err)
	}
}

// TestTakenKey: two clients cannot write into one region.
func TestTakenKey(t *testing.T) {
	r, err := New(key(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if other, err := New(key(t), 1); err == nil || !errors.Is(err, os.ErrExist) {
		_ = other.Close()
		t.Errorf("a second region of the key: %v", err)
	}
}

// TestKilled: without its name a region outlives no process.
func TestKilled(t *testing.T) {
	name := "SLUICE_SHM_KEY"
	if k := os.Getenv(name); k != "" {
		r, err := New(k, 1)
		if err == nil {
			err = r.Unlink()
		}
		if err == nil {
			err = unix.Kill(os.Getpid(), unix.SIGKILL)
		}
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	child.Env = append(os.Environ(), name+"="+key(t))
	out, err := child.CombinedOutput()
	if err == nil || child.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child was not killed: %v\n%s", err, out)
	}
	if _, err := os.Stat(dir + key(t)); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 10239: "10239B", 10240: "10KiB", 64 << 20: "64MiB", 10<<20 - 1: "10239KiB", 3 << 40: "3072GiB",
	} {
		if got := sizeText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if text := (&NoMemoryError{
		Want: 200 << 20, Free: 64 << 20, Where: dir,
	}).Error(); text != "shared memory: 200MiB wanted, /dev/shm has 64MiB free" {
		t.Error(text)
	}
}
