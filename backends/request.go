package backends

import (
	"math"

	"github.com/sluice-bench/sluice/backends/tensor"
)

// Signature describes the inputs and outputs of a model.
type Signature struct {
	Model string
	// Text: requests are made of rows of text (Request.Rows); Batched then says that several rows make
	// one. There are no Inputs.
	Text bool
	// Endpoint is the target's, of requests of text.
	Endpoint string
	// Count counts the tokens of a text, nil without a tokenizer. The executor sets it, as the target's
	// file says.
	Count           func(string) int
	Version         string // the requested version, or the only one; "": the server chooses among several
	Inputs, Outputs []Port
	// Configured: the shapes and the batch dimension come from the model's configuration; else they
	// are derived from metadata.
	Configured bool
	MaxBatch   int  // 0: the model has no batch dimension (or the server did not report it)
	Batched    bool // shapes in Inputs lack the batch dimension, which MaxBatch limits
	Statistics bool // the server keeps statistics
	// Calls are the models that this one calls according to its configuration, each once in the order
	// of the calls. Models that it calls from its own code are not included.
	Calls         []Called
	BinaryTensors bool // the server speaks the binary tensor extension
	Classes       bool // the server speaks the classification extension
	Decoupled     bool // a request may have any number of responses, including none
	// Bodies: requests are whole bodies, which rows of data hold as they are, and not tensors. The
	// executor sets it, from the abilities of the kind.
	Bodies   bool
	Several  bool // requests have any number of messages
	Sequence SequenceKind
}

// SequenceKind is the form of a model's sequence ids.
type SequenceKind uint8

// The forms of ids.
const (
	UnknownSequences SequenceKind = iota // unknown
	NoSequences                          // the model keeps no state
	NumberSequences
	TextSequences
)

// Called is a model that another one calls; Version "" is the server's choice.
type Called struct{ Model, Version string }

// Port is one input or output of a model. Shape has no batch dimension; -1 is any size.
type Port struct {
	Name     string
	Type     tensor.DataType
	Shape    []int64
	Optional bool
	// ShapeTensor: its elements are a shape. It has no batch dimension and is sent once for all items
	// of a batch.
	ShapeTensor bool
	// AnyRank: any number of dimensions fits; Shape says nothing.
	AnyRank bool
}

// Tensor is one named tensor of a request or a reply.
type Tensor struct {
	Name  string
	Type  tensor.DataType
	Shape []int64
	Data  []byte // as tensor.Array holds it
	// Parameters holds the parameters of an input, in the form of Request.Parameters.
	Parameters []Parameter
}

// Array returns the elements of t without its name and parameters.
func (t *Tensor) Array() tensor.Array {
	return tensor.Array{Type: t.Type, Shape: t.Shape, Data: t.Data}
}

// Payload returns the body of a request of text as the one tensor that perf_analyzer's files have for it.
func Payload(body []byte) Tensor { return TensorOf("payload", tensor.TextArray(body)) }

// TensorOf returns a tensor with the elements of a.
func TensorOf(name string, a tensor.Array) Tensor {
	return Tensor{Name: name, Type: a.Type, Shape: a.Shape, Data: a.Data}
}

// Request is one inference request before encoding.
type Request struct {
	Model        string // "": the target's
	ModelVersion string
	Inputs       []Tensor // with the batch dimension
	// Rows are the rows that make the request of a target that takes text (Ability Prompts): one, or
	// those of a batch.
	Rows       [][]Member
	Outputs    []Output // nil: all
	Parameters []Parameter
	Headers    []Header // override the target's
	Vary       *Vary    // marks in Rows; nil: there are none
	Tokens     int      // of Rows, by the target's tokenizer; 0: unknown
	// Counters are numbers in Body that differ from request to request (Ability Counters).
	Counters []Counter
	Row      uint32
	Items    uint32 // inferences in it; 0: the backend reads them from Body
	Expect   *Expect
	// the whole request, sent unchanged (Ability Bodies); nil: it is encoded from the other fields
	Body []byte
	// BodyType is the media type of Body; "": the kind's own.
	BodyType string
	// Parts are the parts of a form, in place of Body, for a kind without the ability Tensors; nil: it
	// is no form.
	Parts    []Part
	Sequence *Sequence // nil: the request belongs to no sequence
	// Signature is the model's, from its metadata: replies that contradict it are class Decode. nil:
	// unknown.
	Signature *Signature
}

// Member is a named value of a row, as JSON.
type Member struct {
	Name  string
	Value []byte
}

// ExactOutput is the member of a row that asks for exactly as many tokens as its output_tokens: true, or
// "auto" for no more than the server and the model keep to.
const ExactOutput = "exact_output"

// Media types of bodies that hold protobuf messages.
const (
	TextProto = "text/x-protobuf" // protobuf's text format
	// Frames: encoded messages, each after its length in 4 bytes, little-endian
	Frames = "application/x-protobuf-frames"
)

// Part is one part of a form (multipart/form-data).
type Part struct {
	Name, File string // of the field, and of the file that it was read from; File "": a plain value
	Type       string // media type; "": none
	Data       []byte
}

// Output is one output that a request asks for.
type Output struct {
	Name string
	// Classification above 0 asks for that many classes in place of the output: its largest values,
	// the largest first, as BYTES "value:index" or "value:index:label". They replace the last
	// dimension.
	Classification int64
	Parameters     []Parameter // as Request.Parameters
}

// Sequence makes a request part of a sequence, for a model that keeps state: the id and the marks
// of the first and the last request are filled in for each sending, from Fields.
type Sequence struct {
	Text bool // ids are strings of digits, for models whose correlation ids are strings
}

// Expect describes a good reply. A reply that differs is class Mismatch.
type Expect struct {
	Status  []int    // good statuses; nil: 200 (gRPC: 0)
	Outputs []Tensor // compared by name; others are ignored
	Source  string   // where they are defined, for the note of a mismatch; "": use Row
	Fields  []Field  // values of the reply other than tensors
	Share   Share    // of the replies whose outputs and fields are compared
	// Tolerances for floats: |got-want| <= Absolute + Relative*|want|. Both 0: bit for bit.
	Relative, Absolute float64
}

// Field is a value of a reply. Path leads to it through maps and lists: names and indexes,
// separated by dots.
type Field struct {
	Path string
	Want any // string, bool, int64, float64, or nil for null
}

// Share selects a share of all requests by their numbers, spread evenly over them; the first is
// always in it. The zero value selects all.
type Share uint64

// ShareOf returns the share for a ratio above 0.
func ShareOf(ratio float64) Share {
	if ratio >= 1 {
		return 0
	}
	return Share(max(ratio*math.MaxUint64, 1))
}

// Has reports whether request n is in the share: the multiples of the golden ratio, modulo 1, are
// spread more evenly than any others (Weyl), whatever the period of the data.
func (s Share) Has(n uint64) bool { return s == 0 || n*0x9e3779b97f4a7c15 < uint64(s) }
