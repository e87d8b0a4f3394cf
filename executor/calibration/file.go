package calibration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluice-bench/sluice/scenario/regular"
)

// Version is the version of the file; files of other versions are not read.
const Version = 1

// Read reads a file of calibrate.
func Read(file string) (*Calibration, error) {
	const most = 1 << 20
	data, err := regular.Read(file, most)
	if err != nil {
		return nil, fmt.Errorf("read the calibration: %w", err)
	}
	return parse(file, data)
}

// parse parses the text of a calibration. Negative numbers are an error.
func parse(file string, data []byte) (*Calibration, error) {
	var c Calibration
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&c); err != nil {
		return nil, fmt.Errorf("%s is not a calibration: %w", file, err)
	}
	if c.Version != Version {
		return nil, fmt.Errorf("%s has version %d, this program reads %d: run `sluice calibrate` again",
			file, c.Version, Version)
	}
	for name, t := range c.Transports {
		if t.Rate < 0 || t.Slots < 0 || t.Highest < 0 {
			return nil, fmt.Errorf("%s is not a calibration: %s has numbers below zero", file, name)
		}
	}
	return &c, nil
}

// Write writes the calibration, readable for the user alone: it names the machine.
func (c *Calibration) Write(file string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the calibration: %w", err)
		}
	}()
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".calibration-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // unless it was renamed
	_, err = temporary.Write(append(data, '\n'))
	if err = cmp.Or(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}
