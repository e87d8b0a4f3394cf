//go:build inprocess

package inprocess

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Names of Triton's Python backend: the program that runs a model, and the prefix of the memory
// that it shares with the library.
const (
	stub       = "triton_python_backend_stub"
	stubRegion = "triton_python_backend_shm_region_"
)

// killChildren ends the processes that the library has started for the Python models of a
// repository, and removes the memory that it shares with them. It is for a server that cannot be
// stopped: a busy model would wait forever for the library's answer after the end of this process,
// and the memory would stay.
func killChildren(repository string) {
	repository = strings.TrimRight(repository, "/")
	processes, _ := filepath.Glob("/proc/[0-9]*") // empty on other systems
	for _, p := range processes {
		pid, err := strconv.Atoi(filepath.Base(p))
		if err != nil || !isChild(p) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		args := strings.Split(string(line), "\x00")
		ofRepository := func(arg string) bool {
			return arg == repository || strings.HasPrefix(arg, repository+"/")
		}
		if filepath.Base(args[0]) != stub || !slices.ContainsFunc(args[1:], ofRepository) {
			continue
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		for _, arg := range args[1:] {
			if strings.HasPrefix(arg, stubRegion) && filepath.Base(arg) == arg {
				_ = os.Remove(filepath.Join("/dev/shm", arg))
			}
		}
	}
}

// isChild reports whether a process, given as its directory in /proc, is a child of this one.
func isChild(process string) bool {
	stat, _ := os.ReadFile(filepath.Join(process, "stat"))
	rest := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // state, parent, …
	return len(rest) > 1 && string(rest[1]) == strconv.Itoa(os.Getpid())
}
