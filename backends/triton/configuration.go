package triton

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sluice-bench/sluice/backends"
)

//go:embed model_config.proto
var modelConfigProto string

// modelConfigType is the message of a model configuration. Its definition is compiled with the first use.
var modelConfigType = sync.OnceValue(func() protoreflect.MessageDescriptor {
	const name = "model_config.proto"
	compiler := protocompile.Compiler{MaxParallelism: 1, Resolver: &protocompile.SourceResolver{
		Accessor: func(path string) (io.ReadCloser, error) {
			if path != name {
				return nil, fs.ErrNotExist
			}
			return io.NopCloser(strings.NewReader(modelConfigProto)), nil
		},
	}}
	files, err := compiler.Compile(context.Background(), name)
	if err != nil {
		panic(err) // the text is part of this program
	}
	return files.FindFileByPath(name).Messages().ByName("ModelConfig")
})

// Configuration implements backends.Configurer.
func (c *conn) Configuration(ctx context.Context, model string) (backends.Configuration, error) {
	ready, err := c.ready(ctx, model)
	var text []byte
	if err == nil && ready {
		text, err = c.configuration(ctx, model)
	}
	if err != nil {
		return backends.Configuration{}, fmt.Errorf("configuration of model %s: %w", model, err)
	}
	return backends.Configuration{JSON: text, Text: configText(text)}, nil
}

// Configure implements backends.Configurer. The server answers when the model is loaded.
func (c *conn) Configure(
	ctx context.Context, model string, own backends.Configuration, patch string,
) (now backends.Configuration, err error) {
	wanted, err := mergeConfig(own.JSON, []byte(patch))
	if err == nil {
		err = c.explainLoad(ctx, model, c.load(ctx, "load", model, string(wanted)))
	}
	if err != nil {
		return now, fmt.Errorf("load model %s with %s: %w", model, patch, err)
	}
	if now, err = c.Configuration(ctx, model); err == nil {
		err = tookOver(model, now, []byte(patch))
	}
	return now, err
}

// Restore implements backends.Configurer. Without the configuration Triton keeps that of the last load,
// as the files of the model have not changed since.
func (c *conn) Restore(
	ctx context.Context, model string, own backends.Configuration, always bool,
) error {
	if own.JSON == nil {
		return c.Unload(ctx, model)
	}
	now, err := c.Configuration(ctx, model)
	if err == nil && !always && sameJSON(own.JSON, now.JSON) {
		return nil
	}
	if err := c.explainLoad(ctx, model, c.load(ctx, "load", model, string(own.JSON))); err != nil {
		return fmt.Errorf("load model %s as it was: %w", model, err)
	}
	if now, err = c.Configuration(ctx, model); err != nil {
		return err
	}
	return differences(model, own.JSON, now.JSON)
}

// explainLoad says what to do where a server refuses to load models at all, or does not have the model.
func (c *conn) explainLoad(ctx context.Context, model string, err error) error {
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "explicit model load / unload is not allowed") {
		return fmt.Errorf("%w: the server must run with --model-control-mode=explicit", err)
	}
	explained := c.ExplainLoadError(ctx, model, err)
	var unknown *backends.UnknownModelError
	if !errors.As(explained, &unknown) && strings.Contains(err.Error(), "failed to poll from model repository") {
		return fmt.Errorf("%w: the server's log says what is wrong with the configuration", err)
	}
	return explained
}

// object is a map of JSON.
type object = map[string]any

// readJSON reads a map of JSON. Numbers keep their digits.
func readJSON(text []byte) (object, error) {
	var m object
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("configuration %.*q: %w", backends.NoteSize, text, err)
	}
	if m == nil {
		return nil, errors.New("the configuration is null")
	}
	return m, nil
}

// mergeConfig lays a patch over a configuration: a JSON merge patch (RFC 7396), but that a group of instances
// without a kind keeps what it does not say from the group at its place.
func mergeConfig(own, patch []byte) ([]byte, error) {
	was, err := readJSON(own)
	if err != nil {
		return nil, err
	}
	wanted, err := readJSON(patch)
	if err != nil {
		return nil, err
	}
	before, _ := was["instance_group"].([]any)
	groups, _ := wanted["instance_group"].([]any)
	for i, g := range groups {
		group, _ := g.(object)
		if _, says := group["kind"]; says || i >= len(before) {
			continue
		}
		if like, ok := before[i].(object); ok {
			groups[i] = merged(maps.Clone(like), group)
		}
	}
	dropDefaultSize(was, wanted)
	return json.Marshal(merged(was, wanted))
}

// dropDefaultSize removes the preferred size of batches that the server made of the largest one, where that
// changes: a larger one than the largest is refused.
func dropDefaultSize(was, wanted object) {
	batching, _ := was["dynamic_batching"].(object)
	sizes, _ := batching["preferred_batch_size"].([]any)
	if wanted["max_batch_size"] != nil && len(sizes) == 1 &&
		fmt.Sprint(sizes[0]) == fmt.Sprint(was["max_batch_size"]) {
		delete(batching, "preferred_batch_size")
	}
}

// merged lays a merge patch over a value.
func merged(v, patch any) any {
	changes, ok := patch.(object)
	if !ok {
		return patch
	}
	to, ok := v.(object)
	if !ok {
		to = object{}
	}
	for key, change := range changes {
		if change == nil {
			delete(to, key)
		} else {
			to[key] = merged(to[key], change)
		}
	}
	return to
}

// tookOver returns an error unless a configuration is as a patch wants it: a server that passes over what
// it does not know would be measured as something it is not.
func tookOver(model string, now backends.Configuration, patch []byte) error {
	have, err := readJSON(now.JSON)
	if err != nil {
		return err
	}
	wanted, err := readJSON(patch)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if !holds(have[key], wanted[key]) {
			return fmt.Errorf("model %s was loaded, and its %s is not as asked: wanted %s, the server has %s",
				model, key, compact(wanted[key]), compact(have[key]))
		}
	}
	return nil
}

// holds reports whether a value has all that another one says. What a server leaves out is zero; numbers may
// be texts, as JSON of protobuf has them.
func holds(have, want any) bool {
	switch want := want.(type) {
	case object:
		all, _ := have.(object)
		for key, v := range want {
			if !holds(all[key], v) {
				return false
			}
		}
		return have != nil || len(want) > 0
	case []any:
		all, _ := have.([]any)
		if len(all) != len(want) {
			return false
		}
		for i, v := range want {
			if !holds(all[i], v) {
				return false
			}
		}
		return true
	case nil:
		return have == nil
	}
	if have == nil {
		return slices.Contains([]string{"0", "", "false", "KIND_AUTO", "REJECT"}, fmt.Sprint(want))
	}
	// The server may know better than KIND_AUTO where instances run.
	return fmt.Sprint(have) == fmt.Sprint(want) || want == "KIND_AUTO"
}

// sameJSON reports whether two maps of JSON are equal, or both absent.
func sameJSON(a, b []byte) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, errX := readJSON(a)
	y, errY := readJSON(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// differences returns an error that has both configurations where they differ.
func differences(model string, was, now []byte) error {
	if sameJSON(was, now) {
		return nil
	}
	if now == nil {
		return fmt.Errorf("model %s is not loaded any more; its configuration was %s", model, was)
	}
	x, _ := readJSON(was)
	y, _ := readJSON(now)
	all := object{}
	maps.Copy(all, y)
	maps.Copy(all, x)
	var list []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(x[key], y[key]) {
			list = append(list, fmt.Sprintf("%s was %s and is %s", key, compact(x[key]), compact(y[key])))
		}
	}
	return fmt.Errorf("the configuration of model %s is not what it was: %s", model, strings.Join(list, "; "))
}

// compact returns a value as JSON; "absent" where there is none.
func compact(v any) string {
	if v == nil {
		return "absent"
	}
	text, _ := json.Marshal(v) // it came from JSON
	return string(text)
}

// configJSON turns a configuration over gRPC into JSON.
func configJSON(message []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(modelConfigType())
	if err := proto.Unmarshal(message, m); err != nil {
		return nil, fmt.Errorf("ModelConfig: reply: %w", err)
	}
	if hasUnknown(m) {
		return nil, errors.New("the server's configurations have fields that this version does not know, " +
			"and could not restore: use the http URL of the server")
	}
	return protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
}

// hasUnknown reports whether a message, or one in it, has a field that its definition lacks.
func hasUnknown(m protoreflect.Message) (found bool) {
	found = len(m.GetUnknown()) > 0
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				found = found || hasUnknown(v.Message())
				return !found
			})
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				found = found || hasUnknown(v.List().Get(i).Message())
			}
		default:
			found = found || hasUnknown(v.Message())
		}
		return !found
	})
	return found
}

// configText returns a configuration as the text of a config.pbtxt. What this version does not know of it
// is left out, which a comment says.
func configText(text []byte) string {
	if text == nil {
		return ""
	}
	m, comment := dynamicpb.NewMessage(modelConfigType()), ""
	if err := protojson.Unmarshal(text, m); err != nil {
		comment = "# Incomplete: " + strings.ReplaceAll(err.Error(), "\n", " ") + "\n"
		m = dynamicpb.NewMessage(modelConfigType())
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, m); err != nil {
			return comment
		}
	}
	lines := strings.SplitAfter(prototext.MarshalOptions{Multiline: true, Indent: "  "}.Format(m), "\n")
	for i, line := range lines {
		// prototext adds a space after some names, by build.
		if name, value, ok := strings.Cut(line, ":  "); ok && !strings.ContainsAny(name, `":`) {
			lines[i] = name + ": " + value
		}
	}
	return comment + strings.Join(lines, "")
}
