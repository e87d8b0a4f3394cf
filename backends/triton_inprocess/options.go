package inprocess

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// setting is one call of a function TRITONSERVER_ServerOptionsSet….
type setting struct {
	function string
	args     []any // string, bool, int64 or float64
}

// option is one of the plan's inprocess.options: a setter and the form of its values, a letter for
// each argument.
//
//	s string   b true or false   i an integer from 0   f a number
//	m a mode   , each item between commas is a call of its own
//
// Several arguments are written in one string, "name,key=value": as on tritonserver's command line.
type option struct{ name, function, form string }

// options returns the options of tritonserver that apply to the library, under their names with _
// for -.
func options() []option {
	return []option{
		{"id", "ServerId", "s"},
		{"model_control_mode", "ModelControlMode", "m"},
		{"load_model", "StartupModel", ",s"},
		{"backend_directory", "BackendDirectory", "s"},
		{"repoagent_directory", "RepoAgentDirectory", "s"},
		{"cache_directory", "CacheDirectory", "s"},
		{"cache_config", "CacheConfig", "sj"},
		{"backend_config", "BackendConfig", "sss"},
		{"host_policy", "HostPolicy", "sss"},
		{"model_config_name", "ModelConfigName", "s"},
		{"strict_model_config", "StrictModelConfig", "b"},
		{"strict_readiness", "StrictReadiness", "b"},
		{"exit_on_error", "ExitOnError", "b"},
		{"exit_timeout_secs", "ExitTimeout", "i"},
		{"buffer_manager_thread_count", "BufferManagerThreadCount", "i"},
		{"model_load_thread_count", "ModelLoadThreadCount", "i"},
		{"model_load_retry_count", "ModelLoadRetryCount", "i"},
		{"model_namespacing", "ModelNamespacing", "b"},
		{"enable_peer_access", "EnablePeerAccess", "b"},
		{"pinned_memory_pool_byte_size", "PinnedMemoryPoolByteSize", "i"},
		{"cuda_memory_pool_byte_size", "CudaMemoryPoolByteSize", "ii"},
		{"min_supported_compute_capability", "MinSupportedComputeCapability", "f"},
		{"allow_metrics", "Metrics", "b"},
		{"allow_gpu_metrics", "GpuMetrics", "b"},
		{"allow_cpu_metrics", "CpuMetrics", "b"},
		{"metrics_interval_ms", "MetricsInterval", "i"},
		{"log_info", "LogInfo", "b"},
		{"log_warning", "LogWarn", "b"},
		{"log_error", "LogError", "b"},
		{"log_verbose", "LogVerbose", "i"},
		{"log_file", "LogFile", "s"},
	}
}

// modes are the words of TRITONSERVER_ModelControlMode.
var modes = []string{"none", "poll", "explicit"}

// settings returns the calls for one option of a plan.
func settings(p backends.Parameter) ([]setting, error) {
	all := options()
	at := slices.IndexFunc(all, func(o option) bool { return o.name == p.Name })
	if at < 0 {
		var names []string
		for _, o := range all {
			names = append(names, o.name)
		}
		return nil,
			&backends.KeyError{
				Key: p.Name, Err: fmt.Errorf("inprocess.options has no %q", p.Name),
				Allowed: names,
			}
	}
	o, text := all[at], fmt.Sprint(p.Value)
	form, many := strings.CutPrefix(o.form, ",")
	values := []string{text}
	if many {
		values = strings.Split(text, ",")
	}
	var calls []setting
	for _, v := range values {
		args, err := arguments(form, strings.TrimSpace(v))
		if err != nil {
			return nil, &backends.KeyError{
				Key: p.Name,
				Err: fmt.Errorf("inprocess.options.%s: %w", o.name, err),
			}
		}
		calls = append(calls, setting{function: "TRITONSERVER_ServerOptionsSet" + o.function, args: args})
	}
	return calls, nil
}

// arguments splits a text: "a,b=c" for three, "a:b" for two numbers.
func arguments(form, text string) (args []any, err error) {
	separators, shape := "", "NAME,KEY=VALUE"
	switch form {
	case "sss":
		separators = ",="
	case "sj":
		separators = ","
	case "ii":
		separators, shape = ":", "GPU:BYTES"
	}
	rest := text
	for i, kind := range form {
		part := rest
		if i < len(separators) {
			var ok bool
			if part, rest, ok = strings.Cut(rest, separators[i:i+1]); !ok {
				return nil, fmt.Errorf("%q is not %s", text, shape)
			}
		}
		v, err := argument(kind, part)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return args, nil
}

func argument(kind rune, text string) (any, error) {
	switch kind {
	case 'b':
		v, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not true or false", text)
		}
		return v, nil
	case 'i':
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 0 {
			return nil, fmt.Errorf("%q is not a whole number from 0", text)
		}
		return v, nil
	case 'f':
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return v, nil
	case 'm':
		at := slices.Index(modes, text)
		if at < 0 {
			return nil, fmt.Errorf("%q is none of %s", text, strings.Join(modes, ", "))
		}
		return int64(at), nil
	case 'j':
		return cacheConfig(text)
	}
	if strings.ContainsRune(text, 0) {
		return nil, fmt.Errorf("%q holds a zero byte", text)
	}
	return text, nil
}

// cacheConfig converts "key=value,key=value" to the JSON that the library expects.
func cacheConfig(text string) (any, error) {
	var pairs []string
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE", pair)
		}
		pairs = append(pairs, strconv.Quote(key)+":"+strconv.Quote(value))
	}
	return "{" + strings.Join(pairs, ",") + "}", nil
}
