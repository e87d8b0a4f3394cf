// Package regular reads the files that a plan or a command line names. A name can be wrong: of a
// folder, of a pipe to which nothing is ever written, of a device without an end. So only regular
// files are opened, and each reader says how large its file may be.
//
// It is not: a reader of standard input, nor of files that this program wrote itself.
package regular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// patience limits the wait of one read. Files on disks never wait in this sense; those of the
// kernel that are read as they grow, such as /proc/kmsg, are regular files too.
const patience = 5 * time.Second

// ErrTooLarge is wrapped by errors about files that are larger than their reader allows.
var ErrTooLarge = errors.New("too large")

// Stat is os.Stat for a name that must be that of a regular file.
func Stat(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	return info, check(name, info)
}

// check says what a file is that is not regular.
func check(name string, info fs.FileInfo) error {
	what := "no regular file"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder, not a file"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe, not a regular file"
	case mode&fs.ModeSocket != 0:
		what = "a socket, not a regular file"
	case mode&fs.ModeDevice != 0:
		what = "a device, not a regular file"
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it is %s", what)}
}

// File is an open regular file of which no more than a limit is read.
type File struct {
	f     *os.File
	left  int64
	limit int64
	waits bool // a read may wait
}

// Open opens a regular file, and nothing else: to open a pipe, or some devices, can wait or change
// something already. A read beyond limit bytes gives an error that wraps ErrTooLarge.
func Open(name string, limit int64) (*File, error) {
	info, err := Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, &fs.PathError{Op: "open", Path: name, Err: tooLarge(info.Size(), limit)}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil { // another file may have the name by now
		err = check(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{f: f, left: limit, limit: limit, waits: f.SetReadDeadline(time.Time{}) == nil}, nil
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	if f.waits {
		if err := f.f.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return 0, err
		}
	}
	if int64(len(p)) > f.left+1 {
		p = p[:f.left+1]
	}
	n, err := f.f.Read(p)
	if f.left -= int64(n); f.left < 0 {
		return n - 1, &fs.PathError{Op: "read", Path: f.f.Name(), Err: tooLarge(0, f.limit)}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = &fs.PathError{
			Op: "read", Path: f.f.Name(), Err: fmt.Errorf("it has no end: nothing came for %s", patience),
		}
	}
	return n, err
}

// Close implements io.Closer.
func (f *File) Close() error { return f.f.Close() }

// Read is the content of a regular file of at most limit bytes.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.f.Stat()
	if err != nil {
		return nil, err
	}
	// So that what is read to the end is not copied
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = io.Copy(b, f)
	return b.Bytes(), err
}

// tooLarge says how large a file may be; size 0: it grew while it was read.
func tooLarge(size, limit int64) error {
	if size == 0 {
		return fmt.Errorf("%w: it has more than the %s that it may have", ErrTooLarge, bytesText(limit))
	}
	return fmt.Errorf("%w: it has %d bytes, it may have %s", ErrTooLarge, size, bytesText(limit))
}

// bytesText writes a limit.
func bytesText(n int64) string {
	for _, u := range []struct {
		unit string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
