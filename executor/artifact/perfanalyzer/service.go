package perfanalyzer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
)

// serviceKinds are perf_analyzer's words for the backends that it knows.
var serviceKinds = map[string]string{
	"triton": "TRITON", "triton_inprocess": "TRITON_C_API", "tfserving": "TENSORFLOW_SERVING",
	"torchserve": "TORCHSERVE", "openai": "OPENAI", "grpc": "DYNAMIC_GRPC",
}

// lookup follows keys and, in lists, the ids of stages into a resolved plan. It returns nil if there is
// no such value.
func lookup(v any, keys ...string) any {
	for _, k := range keys {
		switch in := v.(type) {
		case map[string]any:
			v = in[k]
		case []any:
			at := slices.IndexFunc(in, func(s any) bool { return lookup(s, "id") == k })
			if at < 0 {
				return nil
			}
			v = in[at]
		default:
			return nil
		}
	}
	return v
}

// stageOf returns a stage of a resolved plan, in a group or not; nil: there is none.
func stageOf(r *result.Result, id string) any {
	if s := lookup(r.Plan.Resolved, "stages", id); s != nil {
		return s
	}
	list, _ := lookup(r.Plan.Resolved, "stages").([]any)
	for _, group := range list {
		if s := lookup(group, "parallel", id); s != nil {
			return s
		}
	}
	return nil
}

// Service returns perf_analyzer's words for the server of the first node: its kind, and the path of
// its requests.
func Service(r *result.Result) (kind, endpoint string) {
	if len(r.Nodes) == 0 {
		return "triton", ""
	}
	target := lookup(r.Plan.Resolved, "targets", r.Nodes[0].Target)
	backend, _ := lookup(target, "backend").(string)
	kind = cmp.Or(map[string]string{
		"triton_inprocess": "triton_c_api", "grpc": "dynamic_grpc", "tfserving": backend,
		"torchserve": backend, "openai": backend,
	}[backend], "triton")
	if kind != "openai" {
		return kind, ""
	}
	word, _ := lookup(target, "endpoint").(string)
	path, _ := lookup(target, "path").(string)
	usual := map[string]string{
		"completions": "v1/completions", "embeddings": "v1/embeddings", "rankings": "v1/ranking",
		"responses": "v1/responses", "messages": "v1/messages", "images": "v1/images/generations",
	}
	return kind, strings.TrimPrefix(cmp.Or(path, usual[word], "v1/chat/completions"), "/")
}
