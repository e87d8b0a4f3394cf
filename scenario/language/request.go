package language

import "time"

// Request are the keys that say what one request looks like.
type Request struct {
	// A name under `targets`; the only one without it.
	// Example: canary
	Target *Val[string] `plan:"target"`
	// A name under `datasets`; the only one, else main, without it.
	// Example: small
	Data *Val[string] `plan:"data"`
	// The model; the target's without it.
	// Example: resnet50
	Model *Val[string] `plan:"model" is:"nonempty"`
	// Rows in each request.
	// Example: 8
	Batch *Val[int64] `plan:"batch" default:"1" min:"1" max:"65536"`
	// Sizes of variable dimensions by input, without the batch.
	// Example: {input_ids: [128]}
	Shapes *Dict[Shape] `plan:"shapes"`
	// Outputs to ask for, by name, or as a map with more; all without it.
	// Example: [logits]
	Outputs []*OutputWanted `plan:"outputs"`
	// Request parameters, over the target's, under the row's.
	// Example: {priority: 1}
	Parameters *Dict[Val[any]] `plan:"parameters" usual:"{}"`
	// Headers, over the target's.
	// Example: {X-Run: nightly}
	Headers *Dict[Val[string]] `plan:"headers" usual:"{}"`
	// What a reply must be; a miss is an error of class mismatch.
	// Example: {relative: 0.00001}
	Expect *Expect `plan:"expect"`
	// Closes a share of the requests before their replies have ended: they are in no latency and no error
	// count, and counted as cancelled.by_us.
	// Example: {ratio: 10%, after: 200ms}
	Cancel *Cancel `plan:"cancel"`
}

// Cancel holds the keys of requests that this client closes.
type Cancel struct {
	At Place `def:"cancel"`
	// Share of the requests, spread over them by the seed. One that is answered sooner is not closed.
	// Example: 10%
	Ratio *Val[Ratio] `plan:"ratio" required:"true" above:"0%" max:"100%"`
	// Time from the send of a request until it is closed.
	// Example: 200ms
	After *Val[time.Duration] `plan:"after" required:"true" max:"24h"`
}

// Shape is a list of dimensions; "3,640,640" is the same as [3, 640, 640].
type Shape struct {
	At   Place         `title:"list of int"`
	Text *Val[string]  `form:"scalar" is:"dims"`
	Dims []*Val[int64] `form:"list"`
}

// OutputWanted is an output to ask for: its name, or a map with more.
type OutputWanted struct {
	At Place `union:"output_form" def:"requested_output" title:"text or map"`
	// The output.
	// Example: logits
	Name *Val[string] `plan:"name" form:"scalar" required:"true"`
	// Number of classes to ask for in place of the output: its largest values, the largest first, as texts
	// VALUE:INDEX or VALUE:INDEX:LABEL.
	// Example: 3
	Classification *Val[int64] `plan:"classification" min:"1" max:"4294967295"`
	// Parameters of the output, for servers that read them; those that the client sets itself are refused.
	// Example: {content_type: np}
	Parameters *Dict[Val[any]] `plan:"parameters" usual:"{}"`
}

// Expect holds the keys of what a reply must be.
type Expect struct {
	At Place `def:"expect"`
	// Compare with the outputs that the data expects.
	// Example: false
	Outputs *Val[bool] `plan:"outputs" default:"true"`
	// Relative difference that is allowed.
	// Example: 0.00001
	Relative *Val[Number] `plan:"relative" default:"0" min:"0"`
	// Absolute difference that is allowed.
	// Example: 0.001
	Absolute *Val[Number] `plan:"absolute" default:"0" min:"0"`
	// Status codes that count as answers, of the target's protocol: over HTTP 100 to 599, else 200 alone;
	// over gRPC and for triton_inprocess 0 to 16, else 0 alone.
	// Example: [200, 404]
	Status []*Val[int64] `plan:"status" min:"0" max:"599"`

	// Share of the replies whose outputs and fields are compared, spread evenly; the first is always among
	// them.
	// Example: 10%
	Sample *Val[Ratio] `plan:"sample" default:"100%" max:"100%"`
	// Values that fields of the reply must have, by path: names and indexes. Over gRPC as over HTTP:
	// model_version, parameters.NAME, outputs.0.datatype.
	// Example: {choices.0.finish_reason: stop}
	Fields *Dict[Val[any]] `plan:"fields"`
}

// Mix is an entry of a mix. What it leaves open the stage says (see mergeMixes).
type Mix struct {
	At      Place   `def:"mix_entry"`
	Request Request `inline:"true"`
	// Share of the requests; in turn without weights.
	// Example: 3
	Weight *Val[Number] `plan:"weight" above:"0"`
}

// Requests are the kinds of request of a stage: those of its mix, else its own.
func (s *Stage) Requests() []Request {
	if s.Mix == nil {
		return []Request{s.Play.Request}
	}
	var all []Request
	for _, e := range s.Mix.Items() {
		all = append(all, e.Value.Request)
	}
	return all
}
