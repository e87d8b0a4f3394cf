package kserve_test

import (
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/kserve"
)

func TestSequences(t *testing.T) { backendtest.Sequences(t, kserve.Kind(), urls(t)) }
