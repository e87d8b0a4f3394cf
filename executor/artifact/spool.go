package artifact

import (
	"bufio"
	"errors"
	"fmt"
	"os"
)

// spool is a file that grows under a temporary name until it is complete.
type spool struct {
	temporary
	file   *os.File
	w      *bufio.Writer
	buffer []byte
}

func newSpool(dir, name string) (*spool, error) {
	f, err := createTemporary(dir, name, private)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &spool{temporary: temporary{name, f.Name()}, file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// line writes text, which may use the spool's buffer, and keeps the buffer.
func (p *spool) line(text []byte) error {
	p.buffer = text
	if _, err := p.w.Write(text); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

// close flushes and closes the file, which keeps its name.
func (p *spool) close() error {
	if p.w == nil {
		return nil
	}
	err := errors.Join(p.w.Flush(), p.file.Close())
	if p.w, p.buffer = nil, nil; err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

func (p *spool) remove() error {
	var err error
	if p.w != nil { // without flushing
		p.w, p.buffer = nil, nil
		err = p.file.Close()
	}
	return errors.Join(err, p.temporary.remove())
}
