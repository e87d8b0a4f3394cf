package builtin

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
)

// Tensors in the JSON of the REST API: nested lists of elements, and {"b64": text} for bytes.

// base64Of returns the bytes of {"b64": text}.
func base64Of(v any) (string, bool) {
	m, ok := v.(map[string]any)
	text, isText := m["b64"].(string)
	if !ok || !isText || len(m) != 1 {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(text)
	return string(b), err == nil
}

// denseTensor returns the tensor of nested lists.
func denseTensor(p spec, v any) (tensor, error) {
	t := tensor{name: p.name, typ: p.typ, shape: []int64{}}
	for at := v; ; {
		list, ok := at.([]any)
		if !ok {
			break
		}
		if t.shape = append(t.shape, int64(len(list))); len(list) == 0 {
			break
		}
		at = list[0]
	}
	flat := []any{}
	if err := flattenDense(v, t.shape, 0, &flat); err != nil {
		return t, err
	}
	if p.typ.name == "BYTES" {
		for _, one := range flat {
			text, isText := one.(string)
			if coded, ok := base64Of(one); ok {
				text, isText = coded, true
			}
			if !isText {
				return t, wrongJSON(one, "string")
			}
			t.data = appendBytes(t.data, text)
		}
		return t, nil
	}
	if p.typ.decode == nil {
		return t, &failure{
			http.StatusNotImplemented, codes.Unimplemented, "Conversion of JSON Value to type: " + strings.ToLower(p.typ.name),
		}
	}
	text, err := json.Marshal(flat)
	if err == nil {
		t.data, _, err = p.typ.decode(text)
	}
	if err != nil {
		return t, wrongJSON(flat[0], strings.ToLower(p.typ.name))
	}
	return t, nil
}

func wrongJSON(v any, typ string) error {
	text, _ := json.Marshal(v)
	return invalid("JSON Value: %s is not of expected type: %s", text, typ)
}

// flattenDense appends the elements of nested lists, which have the lengths of a shape.
func flattenDense(v any, shape []int64, level int, into *[]any) error {
	list, ok := v.([]any)
	switch {
	case !ok && level != len(shape):
		text, _ := json.Marshal(v)
		return invalid("JSON Value: %s found at incorrect level: %d in the JSON DOM. Expected at level: %d",
			text, level+1, len(shape))
	case !ok:
		*into = append(*into, v)
		return nil
	case level >= len(shape):
		return invalid("Encountered list at unexpected level: %d expected < %d", level, len(shape))
	case int64(len(list)) != shape[level]:
		return invalid("Encountered list at unexpected size: %d at level: %d expected size: %d",
			len(list), level, shape[level])
	}
	for _, one := range list {
		if err := flattenDense(one, shape, level+1, into); err != nil {
			return err
		}
	}
	return nil
}

// nestedJSON returns the elements of a tensor in nested lists.
func nestedJSON(t tensor) (any, error) {
	if t.typ.encode == nil {
		return nil, &failure{http.StatusNotImplemented, codes.Unimplemented, "no JSON form of type: " + strings.ToLower(t.typ.name)}
	}
	text, err := t.typ.encode(t.data)
	if err != nil {
		return nil, err
	}
	var flat []json.RawMessage
	if err := json.Unmarshal(text, &flat); err != nil {
		return nil, err
	}
	v, _ := nest(t, flat, t.shape)
	return v, nil
}

func nest(t tensor, flat []json.RawMessage, shape []int64) (any, []json.RawMessage) {
	if len(shape) == 0 {
		if strings.HasSuffix(t.name, "_bytes") {
			var text string
			_ = json.Unmarshal(flat[0], &text)
			return object{"b64": base64.StdEncoding.EncodeToString([]byte(text))}, flat[1:]
		}
		return flat[0], flat[1:]
	}
	list := make([]any, shape[0])
	for i := range list {
		list[i], flat = nest(t, flat, shape[1:])
	}
	return list, flat
}
