package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{10, 11, 1 << 20} {
		if data, err := Read(file, limit); err != nil || string(data) != "0123456789" {
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
	}
	if _, err := Read(file, 9); !errors.Is(err, ErrTooLarge) ||
		!strings.Contains(err.Error(), "it has 10 bytes, it may have 9 bytes") {
		t.Errorf("limit 9: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "gone"), 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
	if _, err := Read(dir, 9); err == nil || !strings.Contains(err.Error(), "a folder, not a file") {
		t.Errorf("folder: %v", err)
	}
	if _, err := Read(os.DevNull, 9); err == nil ||
		!strings.Contains(err.Error(), "a device, not a regular file") {
		t.Errorf("device: %v", err)
	}
}

// TestGrowing: a file that grows while it is read is not read beyond the limit.
func TestGrowing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("01234"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(file, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(f); !errors.Is(err, ErrTooLarge) || string(data) != "01234567" {
		t.Errorf("%q, %v", data, err)
	}
}
