package inprocess

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
)

func TestSettings(t *testing.T) {
	for _, row := range []struct {
		name  string
		value any
		want  []setting
		wrong string
	}{
		{
			name: "model_control_mode", value: "explicit",
			want: []setting{{"TRITONSERVER_ServerOptionsSetModelControlMode", []any{int64(2)}}},
		},
		{
			name: "load_model", value: "a, b",
			want: []setting{
				{"TRITONSERVER_ServerOptionsSetStartupModel", []any{"a"}},
				{"TRITONSERVER_ServerOptionsSetStartupModel", []any{"b"}},
			},
		},
		{
			name: "cache_config", value: "local,size=7,x=y",
			want: []setting{{"TRITONSERVER_ServerOptionsSetCacheConfig", []any{"local", `{"size":"7","x":"y"}`}}},
		},
		{
			name: "backend_config", value: "python,k=v=w",
			want: []setting{{"TRITONSERVER_ServerOptionsSetBackendConfig", []any{"python", "k", "v=w"}}},
		},
		{
			name: "cuda_memory_pool_byte_size", value: "1:64",
			want: []setting{{"TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize", []any{int64(1), int64(64)}}},
		},
		{
			name: "strict_readiness", value: true,
			want: []setting{{"TRITONSERVER_ServerOptionsSetStrictReadiness", []any{true}}},
		},
		{
			name: "min_supported_compute_capability", value: 6.0,
			want: []setting{{"TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability", []any{6.0}}},
		},
		{name: "log_verbose", value: int64(-1), wrong: "whole number"},
		{name: "log_info", value: "maybe", wrong: "true or false"},
		{name: "model_control_mode", value: "all", wrong: "none, poll, explicit"},
		{name: "backend_config", value: "python", wrong: "NAME,KEY=VALUE"},
		{name: "cache_config", value: "local,size", wrong: "KEY=VALUE"},
		{name: "cuda_memory_pool_byte_size", value: int64(3), wrong: "GPU:BYTES"},
		{name: "min_supported_compute_capability", value: "NaN", wrong: "not a number"},
		{name: "log_file", value: "a\x00b", wrong: "zero byte"},
		{name: "nosuch", value: "", wrong: `inprocess.options has no "nosuch"`},
	} {
		got, err := settings(backends.Parameter{Name: row.name, Value: row.value})
		if row.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s %v: %v", row.name, row.value, err)
			}
			continue
		}
		if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(setting{})); err != nil || diff != "" {
			t.Errorf("%s %v: %v %s", row.name, row.value, err, diff)
		}
	}
}
