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

// load sends RepositoryModelLoadRequest: model_name 2, parameters 3, whose string is 3; unload likewise.
func (g overGRPC) load(ctx context.Context, verb, model, config string) error {
	method := map[string]string{"load": "RepositoryModelLoad", "unload": "RepositoryModelUnload"}[verb]
	request := protow.AppendString(nil, 2, model)
	if config != "" {
		entry := protow.AppendString(nil, 1, "config")
		request = protow.AppendString(request, 3,
			protow.AppendString(entry, 2, protow.AppendString(nil, 3, config)))
	}
	_, err := g.Invoke(ctx, method, request)
	return err
}

// configuration reads ModelConfigResponse: config 1.
func (g overGRPC) configuration(ctx context.Context, model string) ([]byte, error) {
	var reply struct {
		Config string `proto:"1"` // a message
	}
	if err := g.Read(ctx, "ModelConfig", kserve.ModelRequest(model, ""), &reply); err != nil {
		return nil, err
	}
	return configJSON([]byte(reply.Config))
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
	_, err := g.Invoke(ctx, m.method+"Register", r.Message(protow.AppendString(nil, 1, name)))
	return err
}

func (g overGRPC) unregister(ctx context.Context, m *memory, name string) error {
	_, err := g.Invoke(ctx, m.method+"Unregister", protow.AppendString(nil, 1, name))
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
		entry := protow.AppendString(nil, 1, v.Name)
		request = protow.AppendString(request, 1, protow.AppendString(entry, 2, settingValue(v.Value, trace)))
	}
	var reply struct {
		Settings []struct {
			Name  string `proto:"1"`
			Value string `proto:"2"` // a message
		} `proto:"1"`
	}
	if err := g.Read(ctx, method, request, &reply); err != nil {
		return nil, err
	}
	var list []backends.Parameter
	for _, s := range reply.Settings {
		value, err := readSetting(s.Name, []byte(s.Value), trace)
		if err != nil {
			return nil, fmt.Errorf("%s: reply: %w", method, err)
		}
		list = append(list, backends.Parameter{Name: s.Name, Value: value})
	}
	return list, nil
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

// readSetting reads a SettingValue. A trace setting with one string becomes that string, except the
// levels, which are a list of any length.
func readSetting(name string, message []byte, trace bool) (value any, err error) {
	texts := []string{}
	value = "" // a default value is not sent
	w := protow.Walk(message)
	for w.Next() {
		switch {
		case trace && w.Is(1):
			texts = append(texts, string(w.Bytes))
		case w.Is(3):
			value = string(w.Bytes)
		case w.Field == 1:
			value = w.Varint != 0
		case w.Field == 2:
			value = int64(w.Varint)
		}
	}
	switch {
	case trace && name != traceLevel && len(texts) == 1:
		value = texts[0]
	case trace:
		value = texts
	}
	return value, w.Err()
}

// traceLevel is the only trace setting that is a list.
const traceLevel = "trace_level"
