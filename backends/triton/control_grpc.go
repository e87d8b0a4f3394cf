package triton

import (
	"context"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// overGRPC is control over gRPC. Field numbers are those of Triton's grpc_service.proto.
type overGRPC struct{ *kserve.GRPC }

// load sends RepositoryModelLoadRequest: model_name 2; unload likewise.
func (g overGRPC) load(ctx context.Context, verb, model string) error {
	method := map[string]string{"load": "RepositoryModelLoad", "unload": "RepositoryModelUnload"}[verb]
	_, err := g.Invoke(ctx, method, protow.AppendString([]byte(nil), 2, model))
	return err
}

func (g overGRPC) ready(ctx context.Context, model string) (bool, error) {
	var reply struct {
		Ready bool `proto:"1"`
	}
	err := g.Read(ctx, "ModelReady", kserve.ModelRequest(model, ""), &reply)
	return reply.Ready, err
}

// register sends a request whose name is 1, unregister likewise.
func (g overGRPC) register(ctx context.Context, m *memory, name string, r region) error {
	_, err := g.Invoke(ctx, m.method+"Register", r.Message(protow.AppendString([]byte(nil), 1, name)))
	return err
}

func (g overGRPC) unregister(ctx context.Context, m *memory, name string) error {
	_, err := g.Invoke(ctx, m.method+"Unregister", protow.AppendString([]byte(nil), 1, name))
	return err
}

func (g overGRPC) registered(ctx context.Context, m *memory) ([]string, error) {
	var reply struct {
		Regions []named `proto:"1"`
	}
	err := g.Read(ctx, m.method+"Status", nil, &reply)
	return namesOf(reply.Regions), err
}

// settings sends TraceSettingRequest or LogSettingsRequest, whose settings 1 map a name to a value,
// and reads the response, which has the same map.
func (g overGRPC) settings(
	ctx context.Context, group backends.Settings, values []backends.Parameter,
) ([]backends.Parameter, error) {
	method, trace := "LogSettings", group == backends.TraceSettings
	if trace {
		method = "TraceSetting"
	}
	var request []byte
	for _, v := range values {
		entry := protow.AppendString([]byte(nil), 1, v.Name)
		request = protow.AppendString(request, 1, protow.AppendString(entry, 2, settingValue(v.Value, trace)))
	}
	reply, err := g.Invoke(ctx, method, request)
	if err != nil {
		return nil, err
	}
	var list []backends.Parameter
	w := protow.Walk(reply)
	for w.Next() {
		if !w.Is(1) {
			continue
		}
		p, err := readSetting(w.Bytes, trace)
		if err != nil {
			return nil, fmt.Errorf("%s: reply: %w", method, err)
		}
		list = append(list, p)
	}
	return list, w.Err()
}

// settingValue encodes a SettingValue: for trace settings a list of strings 1; for log settings
// bool 1, uint32 2 or string 3.
func settingValue(v any, trace bool) (b []byte) {
	switch v := v.(type) {
	case []string:
		for _, text := range v {
			b = protow.AppendString(b, 1, text)
		}
	case string:
		n := protow.Number(3)
		if trace {
			n = 1
		}
		b = protow.AppendString(b, n, v)
	case bool:
		b = protow.AppendUint(nil, 1, map[bool]uint64{true: 1}[v])
	case int64:
		b = protow.AppendUint(nil, 2, uint64(v))
	}
	return b
}

// readSetting reads an entry of the map: name 1, value 2. A trace setting with one string becomes
// that string, except the levels, which are a list of any length.
func readSetting(entry []byte, trace bool) (p backends.Parameter, err error) {
	var value []byte
	w := protow.Walk(entry)
	for w.Next() {
		switch {
		case w.Is(1):
			p.Name = string(w.Bytes)
		case w.Is(2):
			value = w.Bytes
		}
	}
	if err := w.Err(); err != nil {
		return p, err
	}
	texts := []string{}
	v := protow.Walk(value)
	for v.Next() {
		switch {
		case trace && v.Is(1):
			texts = append(texts, string(v.Bytes))
		case v.Is(3):
			p.Value = string(v.Bytes)
		case v.Field == 1:
			p.Value = v.Varint != 0
		case v.Field == 2:
			p.Value = int64(v.Varint)
		}
	}
	switch {
	case trace && p.Name != traceLevel && len(texts) == 1:
		p.Value = texts[0]
	case trace:
		p.Value = texts
	case p.Value == nil:
		p.Value = "" // a default value is not sent
	}
	return p, v.Err()
}

// traceLevel is the only trace setting that is a list.
const traceLevel = "trace_level"
