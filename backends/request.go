package backends

import "github.com/sluice-bench/sluice/backends/tensor"

// Signature is what a model takes and gives.
type Signature struct {
	Model           string
	Version         string // the one that was asked for, or the only one that is served; "": the server chooses of several
	Inputs, Outputs []Port
	// Configured: the shapes and the batch dimension are those of the model's configuration; else they are guessed from metadata.
	Configured bool
	MaxBatch   int  // 0: the model has no batch dimension (or the server did not tell)
	Batched    bool // shapes in Inputs lack the batch dimension, which MaxBatch limits
	Statistics bool // the server keeps statistics
	// Calls are the models that this one is made of, as its configuration names them, each once in the order of the calls.
	// What a model calls from its own code is not among them.
	Calls         []Called
	BinaryTensors bool // the server speaks the binary tensor extension
	Classes       bool // the server speaks the classification extension
	Decoupled     bool // a request may have any number of responses, none included
	Sequence      SequenceKind
}

// SequenceKind is what a model says about sequences of requests.
type SequenceKind uint8

// What a model can say. Numbers and texts are how it wants ids.
const (
	UnknownSequences SequenceKind = iota // nothing
	NoSequences                          // it keeps no state
	NumberSequences
	TextSequences
)

// Called is a model that another one calls; Version "" is the server's choice.
type Called struct{ Model, Version string }

// Port is one input or output of a model. Shape holds no batch dimension; -1 is any size.
type Port struct {
	Name     string
	Type     tensor.DataType
	Shape    []int64
	Optional bool
	// ShapeTensor: its elements are a shape. It has no batch dimension and goes once for all items of a batch.
	ShapeTensor bool
}

// Tensor is one named tensor of a request or a reply.
type Tensor struct {
	Name  string
	Type  tensor.DataType
	Shape []int64
	Data  []byte // as tensor.Array holds it
	// Parameters are those of an input that the model reads, as Request.Parameters.
	Parameters []Parameter
}

// Array returns the elements of t without its name and parameters.
func (t *Tensor) Array() tensor.Array {
	return tensor.Array{Type: t.Type, Shape: t.Shape, Data: t.Data}
}

// Request is one inference request before encoding.
type Request struct {
	Model        string // "": the target's
	ModelVersion string
	Inputs       []Tensor // with the batch dimension
	Outputs      []Output // nil: all
	Parameters   []Parameter
	Headers      []Header // over the target's
	Row          uint32
	Items        uint32 // inferences in it; 0: the backend reads them from Body
	Expect       *Expect
	Body         []byte    // the whole request as it stands (Ability Bodies); nil: it is made of the rest
	Sequence     *Sequence // nil: the request belongs to no sequence
	// Signature is the model's, as its metadata were read: replies that it does not allow are class Decode. nil: nothing is known.
	Signature *Signature
}

// Output is one output that a request asks for.
type Output struct {
	Name string
	// Classification above 0 asks for classes in the output's place: so many of its largest values, the largest first, as BYTES
	// "value:index" or "value:index:label". In the last dimension then stand the classes.
	Classification int64
	Parameters     []Parameter // as Request.Parameters
}

// Sequence makes a request one of a sequence, for a model that keeps state: the id and the marks of the first and the
// last come with each sending, from Fields.
type Sequence struct {
	Text bool // ids are texts of digits, for models whose correlation ids are texts
}

// Expect is what a reply must be to count as ok. A miss is class Mismatch.
type Expect struct {
	Status  []int    // statuses that count as ok; nil: 200 (gRPC: 0)
	Outputs []Tensor // compared by name; those not named are not looked at
	Source  string   // where they stand, for whoever reads of a miss; "": Row says it
	Fields  []Field  // values that the reply holds besides tensors
	Share   Share    // of the replies whose outputs and fields are compared
	// Tolerances for floats: |got-want| <= Absolute + Relative*|want|. Both 0: bit for bit.
	Relative, Absolute float64
}

// Field is a value of a reply. Path leads to it through maps and lists: names and indexes, separated by dots.
type Field struct {
	Path string
	Want any // string, bool, int64, float64, or nil for null
}
