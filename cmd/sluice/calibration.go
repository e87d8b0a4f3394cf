package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/calibration"
	"github.com/sluice-bench/sluice/executor/program"
)

// calibrationVariable is the environment variable with the name of the file, for machines that
// share a home.
const calibrationVariable = "SLUICE_CALIBRATION"

// thisMachine returns the identity of the machine that this process runs on.
func thisMachine() calibration.Machine {
	e := executor.Environment()
	return calibration.Machine{CPUModel: e.CPUModel, CPUs: e.CPUs, Kernel: e.Kernel, OS: e.OS, Arch: e.Arch}
}

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
	c, err := calibration.Read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &program.Machine{Other: err.Error()}
	}
	if why := c.Machine.Differs(thisMachine()); why != "" {
		return &program.Machine{Other: why}
	}
	m := &program.Machine{Shown: make(map[string]program.Shown)}
	for name, t := range c.Transports {
		m.Shown[name] = program.Shown{Rate: t.Rate, Slots: t.Slots, Highest: t.Highest}
	}
	return m
}
