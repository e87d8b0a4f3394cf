package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario/regular"
)

// calibrationVersion is the version of the file; files of other versions are not read.
const calibrationVersion = 1

// calibrationVariable is the environment variable with the name of the file, for machines that
// share a home.
const calibrationVariable = "SLUICE_CALIBRATION"

// calibration holds the figures of a machine for later runs.
type calibration struct {
	Version    int                        `json:"version"`
	Tool       string                     `json:"tool"`
	Measured   time.Time                  `json:"measured"`
	Quick      bool                       `json:"quick"`
	Machine    machineIdentity            `json:"machine"`
	Transports map[string]transportResult `json:"transports"` // http, grpc
}

// machineIdentity identifies a machine: a calibration is not valid on another one.
type machineIdentity struct {
	CPUModel string `json:"cpu_model"`
	CPUs     int    `json:"cpus"` // that the process may use
	Kernel   string `json:"kernel"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// thisMachine returns the identity of the machine that this process runs on.
func thisMachine() machineIdentity {
	e := executor.Environment()
	return machineIdentity{CPUModel: e.CPUModel, CPUs: e.CPUs, Kernel: e.Kernel, OS: e.OS, Arch: e.Arch}
}

// differs returns how m differs from this machine, or "".
func (m machineIdentity) differs(here machineIdentity) string {
	switch {
	case m.OS != here.OS || m.Arch != here.Arch || m.CPUModel != here.CPUModel:
		return fmt.Sprintf("it was made on another machine (%s, %s)", orUnknown(m.CPUModel), m.OS+"/"+m.Arch)
	case m.CPUs != here.CPUs:
		return fmt.Sprintf("it was made with %s, and this process may use %d",
			plural(m.CPUs, "core"), here.CPUs)
	case m.Kernel != here.Kernel:
		return fmt.Sprintf("it was made under kernel %s, and this is %s", m.Kernel, here.Kernel)
	}
	return ""
}

func orUnknown(text string) string { return cmp.Or(text, "unknown CPU") }

// calibrationFile returns the name of the file: of the environment, else in the user's cache.
func calibrationFile(env func(string) (string, bool)) (string, error) {
	if file, _ := env(calibrationVariable); file != "" {
		return file, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the calibration: %w; name a file with --file or %s",
			err, calibrationVariable)
	}
	return filepath.Join(dir, "sluice", "calibration.json"), nil
}

// machine returns the figures of this machine, or nil if it was not calibrated.
func (a *app) machine() *program.Machine {
	file, err := calibrationFile(a.env)
	if err != nil {
		return nil
	}
	c, err := readCalibration(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &program.Machine{Other: err.Error()}
	}
	if why := c.Machine.differs(thisMachine()); why != "" {
		return &program.Machine{Other: why}
	}
	m := &program.Machine{Shown: make(map[string]program.Shown)}
	for name, t := range c.Transports {
		m.Shown[name] = program.Shown{Rate: t.Rate, Slots: t.Slots, Highest: t.Highest}
	}
	return m
}

// readCalibration reads a file of calibrate.
func readCalibration(file string) (*calibration, error) {
	const most = 1 << 20
	data, err := regular.Read(file, most)
	if err != nil {
		return nil, fmt.Errorf("read the calibration: %w", err)
	}
	return parseCalibration(file, data)
}

// parseCalibration parses the text of a calibration. Negative numbers are an error.
func parseCalibration(file string, data []byte) (*calibration, error) {
	var c calibration
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&c); err != nil {
		return nil, fmt.Errorf("%s is not a calibration: %w", file, err)
	}
	if c.Version != calibrationVersion {
		return nil, fmt.Errorf("%s has version %d, this program reads %d: run `sluice calibrate` again",
			file, c.Version, calibrationVersion)
	}
	for name, t := range c.Transports {
		if t.Rate < 0 || t.Slots < 0 || t.Highest < 0 {
			return nil, fmt.Errorf("%s is not a calibration: %s has numbers below zero", file, name)
		}
	}
	return &c, nil
}

// write writes the calibration, readable for the user alone: it names the machine.
func (c *calibration) write(file string) (err error) {
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
