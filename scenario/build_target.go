package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
)

func (r *reading) target(name string, t *language.Target) *Target {
	target := &Target{
		Name:           name,
		Pos:            t.At.Pos(),
		Backend:        t.Backend.V,
		URL:            t.URL.Or(""),
		Model:          t.Model.Or(""),
		ModelVersion:   t.ModelVersion.Or(""),
		Headers:        r.headers(t.Headers),
		Parameters:     parameters(t.Parameters),
		TLS:            r.tls(t.TLS),
		Timeout:        t.Timeout.V,
		ConnectTimeout: t.ConnectTimeout.V,
		Connections:    t.Connections.V,
		MaxMessage:     int64(t.MaxMessage.Or(0)),
		Input:          t.Tensors.Input.V,
		Output:         t.Tensors.Output.V,
		Ready:          t.Ready.V,
		Probe:          t.Probe.V,
		Statistics:     t.Statistics.V,
		Builtin:        newBuiltin(t.Builtin),
	}
	target.Compression = t.Compression.Or(language.Default[language.Target, string]("compression"))
	target.Endpoint, target.Method, target.Streaming = t.Endpoint.Or(""), t.Method.Or(""), t.Streaming.Or(false)
	if t.Tokenizer != nil {
		file := r.path(t.Tokenizer)
		target.Tokenizer = &file
	}
	if p := t.InProcess; p != nil && p.Repository != nil {
		target.InProcess = &InProcess{
			ServerDir: r.path(p.ServerDir), Repository: r.path(p.Repository),
			Options: parameters(p.Options),
		}
		for _, e := range p.Options.Items() {
			target.InProcess.Keys = append(target.InProcess.Keys, Key{e.Key, e.KeyPos})
		}
	}
	if target.Streaming {
		target.InactivityTimeout = t.InactivityTimeout.Or(
			language.Default[language.Target, time.Duration]("inactivity_timeout"),
		)
	}
	target.Composing = wordsOf(t.ComposingModels)
	if m := t.Metrics; m != nil {
		target.Metrics = &Metrics{URL: m.URL.V, Every: m.Every.V, Match: wordsOf(m.Match)}
	}
	if x := t.Trace; x != nil {
		target.Trace = &Trace{
			Levels: wordsOf(x.Level), Rate: x.Rate.V, Count: x.Count.V,
			LogFrequency: x.LogFrequency.V,
		}
	}
	if l := t.Log; l != nil {
		target.Log = &Log{
			Info: l.Info.Ptr(), Warning: l.Warning.Ptr(), Error: l.Error.Ptr(),
			Verbose: l.Verbose.Ptr(), Format: l.Format.Or(""),
		}
	}
	for _, e := range t.At.Node.Entries {
		target.Keys = append(target.Keys, Key{e.Key, e.KeyPos})
	}
	return target
}

func (r *reading) tls(t *language.TLS) *TLS {
	if t == nil {
		return nil
	}
	return &TLS{
		CA: r.path(t.CA).Name, Cert: r.path(t.Cert).Name, Key: r.path(t.Key).Name, ServerName: t.ServerName.Or(""),
		Verify: t.Verify.V, MinVersion: t.MinVersion.V,
	}
}

// path resolves a path of the plan; none stays empty.
func (r *reading) path(p *language.Val[language.Path]) Path {
	if p == nil {
		return Path{}
	}
	return Path{layer.ResolvePath(layer.FolderOf(r.File, p.At.Node), string(p.V)), p.At.Pos()}
}

func newBuiltin(b *language.Builtin) *Builtin {
	if b == nil {
		return nil
	}
	builtin := &Builtin{
		ServiceTime: newDist(b.ServiceTime),
		Instances:   int(b.Instances.Or(0)),
		MaxBatch:    int(b.MaxBatch.V),
		QueueDelay:  b.QueueDelay.V,
		Errors:      float64(b.Errors.V),
		Reset:       float64(b.Reset.V),
		SlowBody:    b.SlowBody.V,
	}
	if s := b.Stall; s != nil {
		builtin.Stall = &Stall{s.Start.V, s.For.V, s.Every.V}
	}
	return builtin
}
