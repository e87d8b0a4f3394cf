package tfserving

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// defaultSignature is the name of the signature that servers use if none is named.
const defaultSignature = "serving_default"

// metadataReply is a GetModelMetadataResponse: metadata 2 is a map of Any {value 2}, whose entry
// signature_def is a SignatureDefMap.
type metadataReply struct {
	Spec struct {
		Version struct {
			Value int64 `proto:"1"`
		} `proto:"2"`
	} `proto:"1"`
	Metadata []struct {
		Key string `proto:"1"`
		Any struct {
			Value string `proto:"2"`
		} `proto:"2"`
	} `proto:"2"`
}

// signatureMap is a SignatureDefMap (get_model_metadata.proto, meta_graph.proto).
type signatureMap struct {
	Signatures []namedDef `proto:"1"`
}

type namedDef struct {
	Name string       `proto:"1"`
	Def  signatureDef `proto:"2"`
}

type signatureDef struct {
	Inputs  []tensorEntry `proto:"1"`
	Outputs []tensorEntry `proto:"2"`
	Method  string        `proto:"3"`
}

// tensorEntry is an entry of a map<string, TensorInfo>: dtype 2, tensor_shape 3 {dim 2 {size 1},
// unknown_rank 3}.
type tensorEntry struct {
	Name string `proto:"1"`
	Info struct {
		DType int64 `proto:"2"`
		Shape struct {
			Dims        []dimension `proto:"2"`
			UnknownRank bool        `proto:"3"`
		} `proto:"3"`
	} `proto:"2"`
}

type dimension struct {
	Size int64 `proto:"1"`
}

// Describe implements backends.Describer. A server without metadata describes nothing: the data then
// say what the inputs are.
func (c *Conn) Describe(ctx context.Context, model string) (backends.Signature, error) {
	name, version := modelOf(&c.target, model)
	var reply metadataReply
	request := protow.AppendString(appendSpec(nil, name, version, ""), 2, "signature_def")
	known, err := c.read(ctx, getMetadata, name, version, request, &reply)
	sig := newSignature(name, version)
	if err != nil || !known {
		return sig, err
	}
	var all signatureMap
	for _, m := range reply.Metadata {
		if m.Key == "signature_def" {
			if err := protow.Decode([]byte(m.Any.Value), &all); err != nil {
				return sig, fmt.Errorf("GetModelMetadata: %w", err)
			}
		}
	}
	return all.describe(&c.target, sig)
}

func newSignature(model, version string) backends.Signature {
	return backends.Signature{
		Model: model, Version: version, Sequence: backends.NoSequences, BinaryTensors: true,
	}
}

// describe adds the target's signature of a model to sig. A signature of classify or regress has the
// method of that name; its requests are examples, of which it says nothing.
func (m *signatureMap) describe(t *backends.Target, sig backends.Signature) (backends.Signature, error) {
	wanted, examples := cmp.Or(t.Signature, defaultSignature), takesExamples(t)
	for i := range m.Signatures {
		s := &m.Signatures[i]
		switch {
		case s.Name != wanted:
		case !examples:
			return s.Def.describe(sig), nil
		case s.Def.method() == t.Endpoint:
			return sig, nil
		}
	}
	return sig, m.refuse(t, sig.Model)
}

// method returns the method of a signature: predict, classify or regress.
func (d *signatureDef) method() string { return strings.TrimPrefix(d.Method, methodPrefix) }

// refuse says which signatures a model has, as the target's is not among them or has another method.
func (m *signatureMap) refuse(t *backends.Target, model string) error {
	wanted, endpoint, method := cmp.Or(t.Signature, defaultSignature), "", ""
	if takesExamples(t) {
		endpoint = t.Endpoint
	}
	var names, others []string
	for i := range m.Signatures {
		s := &m.Signatures[i]
		switch has := s.Def.method(); {
		case len(s.Def.Inputs) == 0: // for the loader
		case endpoint == "" || has == endpoint:
			names = append(names, s.Name)
		default:
			others = append(others, s.Name+" (for "+has+")")
			if s.Name == wanted {
				method = has
			}
		}
	}
	slices.Sort(names)
	slices.Sort(others)
	text := fmt.Sprintf("model %s has no signature %q", model, wanted)
	switch {
	case method == classify || method == regress:
		text = fmt.Sprintf("signature %s of model %s is for %s: write endpoint: %[3]s", wanted, model, method)
	case method != "":
		text = fmt.Sprintf("signature %s of model %s is for %s: remove `endpoint`", wanted, model, method)
	case endpoint == "" || len(names) > 0:
		text += ": name one with `signature`; it has " + listed(names)
	default:
		text += fmt.Sprintf(", and none for %s: name one with `signature`, and its method with `endpoint` unless that "+
			"is predict; it has %s", endpoint, listed(others))
	}
	if method != "" && len(names) > 0 {
		text += fmt.Sprintf(", or name one for %s with `signature`: %s", endpoint, listed(names))
	}
	return &backends.RefusalError{Text: text}
}

// describe returns the inputs and outputs of a signature, in the order of their names. The model takes
// batches if the first dimension of every input is free; it is then the batch dimension. A tensor of
// unknown rank may have any shape.
func (d *signatureDef) describe(sig backends.Signature) backends.Signature {
	sig.Batched = len(d.Inputs) > 0
	for i := range d.Inputs {
		s := &d.Inputs[i].Info.Shape
		sig.Batched = sig.Batched && !s.UnknownRank && len(s.Dims) > 0 && s.Dims[0].Size == -1
	}
	sig.Inputs, sig.Outputs = ports(d.Inputs, sig.Batched), ports(d.Outputs, sig.Batched)
	return sig
}

func ports(entries []tensorEntry, batched bool) (list []backends.Port) {
	for i := range entries {
		e := &entries[i]
		p := backends.Port{Name: e.Name, Type: typeOf(uint64(e.Info.DType)), Shape: []int64{}}
		if p.Type == "" {
			p.Type = tensor.DataType(fmt.Sprintf("DT_%d", e.Info.DType))
		}
		p.AnyRank = e.Info.Shape.UnknownRank
		for _, d := range e.Info.Shape.Dims {
			p.Shape = append(p.Shape, d.Size)
		}
		if batched && len(p.Shape) > 0 {
			p.Shape = p.Shape[1:]
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b backends.Port) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}
