//go:build inprocess

package inprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/triton"
	"github.com/sluice-bench/sluice/backends/wire/native"
)

// conn is one target of a server.
type conn struct {
	*server
	host   *host
	key    string // of the server
	target backends.Target
	clock  backends.Clock

	mu sync.Mutex
	// pins the memory of prepared requests: C keeps the addresses while it has a request
	pinner runtime.Pinner
	lanes  []*lane
	closed bool
}

// anyVersion leaves the choice of a model's version to the server.
const anyVersion = -1

// version parses a model's version for the library.
func version(text string) (int64, error) {
	if text == "" {
		return anyVersion, nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 1 {
		return 0, fmt.Errorf("model version %q: Triton's are numbers from 1", text)
	}
	return v, nil
}

// aboutModel returns the JSON of a function whose first arguments are a model and its version.
func (c *conn) aboutModel(function uintptr, model, v string, more ...uintptr) ([]byte, error) {
	number, err := version(v)
	if err != nil {
		return nil, err
	}
	name := native.Text(model)
	defer runtime.KeepAlive(name)
	return c.message(function, append([]uintptr{c.handle, native.Address(name), uintptr(number)}, more...)...)
}

// Describe implements backends.Describer.
func (c *conn) Describe(_ context.Context, model string) (backends.Signature, error) {
	model, v, err := kserve.ModelOf(&c.target, model)
	if err != nil {
		return backends.Signature{}, err
	}
	if _, err := version(v); err != nil {
		return backends.Signature{}, err
	}
	server, err := c.message(c.ServerMetadata, c.handle)
	var metadata, config []byte
	if err == nil {
		metadata, err = c.aboutModel(c.ServerModelMetadata, model, v)
	}
	if err == nil {
		config, err = c.aboutModel(c.ServerModelConfig, model, v, configVersion)
	}
	if err != nil {
		return backends.Signature{}, fmt.Errorf("describe model %s: %w", model, err)
	}
	sig, err := kserve.SignatureOf(server, metadata, config, v)
	sig.BinaryTensors = true // whatever protocols the server lists: requests do not use one
	return sig, err
}

// configVersion is the version of the format of model configurations.
const configVersion = 1

// Ready implements backends.Prober: live, ready, and the model loaded.
func (c *conn) Ready(_ context.Context, model string) error {
	for _, ask := range []struct {
		what     string
		function uintptr
	}{{"live", c.ServerIsLive}, {"ready", c.ServerIsReady}} {
		yes, err := c.boolResult(ask.function, c.handle)
		if err != nil {
			return err
		}
		if !yes {
			return fmt.Errorf("the server is not %s%s", ask.what, c.notReadyReason(""))
		}
	}
	if model == "" {
		return nil
	}
	model, v, err := kserve.ModelOf(&c.target, model)
	if err != nil {
		return err
	}
	yes, err := c.loaded(model, v)
	if err != nil || yes {
		return err
	}
	err = fmt.Errorf("model %s is not ready%s", model, c.notReadyReason(model))
	var unknown *backends.UnknownModelError
	if list := c.index(); list != nil &&
		errors.As(kserve.ExplainModelError(list, model, v, "", err), &unknown) {
		return unknown
	}
	return err
}

// index returns the models of the server's repository, including those that are not loaded; nil: it
// cannot be read.
func (c *conn) index() (list []kserve.IndexedModel) {
	const flags = 0
	text, err := c.message(c.ServerModelIndex, c.handle, flags)
	if err != nil || json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list
}

// notReadyReason returns what the index of the server's repository says about a model that is not
// ready, or about the first one that could not be loaded; "": nothing.
func (c *conn) notReadyReason(model string) string {
	all := c.index()
	if all == nil {
		return ""
	}
	more := ": the repository does not have it"
	if model == "" {
		more = ""
	}
	for _, m := range all {
		switch {
		case m.Name != model && model != "" || m.State == "READY":
		case m.Reason != "":
			return fmt.Sprintf(": %s: %s", m.Name, strings.Join(strings.Fields(m.Reason), " "))
		case model != "":
			more = ": it is not loaded; `inprocess.options.load_model` names the models to begin with"
		}
	}
	return more
}

func (c *conn) loaded(model, v string) (bool, error) {
	number, err := version(v)
	if err != nil {
		return false, err
	}
	name := native.Text(model)
	defer runtime.KeepAlive(name)
	return c.boolResult(c.ServerModelIsReady, c.handle, native.Address(name), uintptr(number))
}

// Stats implements backends.Observer.
func (c *conn) Stats(_ context.Context, model, v string, into []int64) (at int64, err error) {
	read := func(model, v string) ([]triton.Statistics, error) {
		text, err := c.aboutModel(c.ServerModelStatistics, model, v)
		if err != nil {
			return nil, err
		}
		return triton.ParseStatistics(text)
	}
	return triton.Observe(&c.target, c.clock, model, v, into, read)
}

// Load implements backends.Controller.
func (c *conn) Load(_ context.Context, model string) error {
	return c.control(c.ServerLoadModel, "load", model)
}

func (c *conn) control(function uintptr, verb, model string) error {
	name := native.Text(model)
	defer runtime.KeepAlive(name)
	if err := c.check(native.Call(function, c.handle, native.Address(name))); err != nil {
		return fmt.Errorf("%s model %s: %w", verb, model, err)
	}
	return nil
}

// pollInterval is the time between two checks of states for which the library has no callback.
const pollInterval = 5 * time.Millisecond

// Unload implements backends.Controller. The library returns at once and unloads when the requests
// in flight are done.
func (c *conn) Unload(ctx context.Context, model string) error {
	if err := c.control(c.ServerUnloadModel, "unload", model); err != nil {
		return err
	}
	for {
		yes, err := c.loaded(model, "")
		if err != nil || !yes {
			return nil // a model that is gone is not found
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("unload model %s: it is still ready: %w", model, err)
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollInterval):
		return nil
	}
}

// inlineLimit is the largest request in bytes that Send passes without blocking. The library takes
// a request without waiting for the model, and without a copy: 4 µs for 64 bytes and for 1 MiB. But
// if a model has a response cache it reads all of the inputs before it returns, and writes the
// outputs on a hit: 90 µs for 64 KiB, 1.5 ms for 1 MiB, 13 ms for 8 MiB, during which no other due
// request could be sent.
const inlineLimit = 64 << 10

// Lanes implements backends.Conn. A lane costs nothing at the server.
func (c *conn) Lanes(
	_ context.Context, n int, _ backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	all := make([]backends.Lane, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lanes = slices.DeleteFunc(c.lanes, (*lane).isDrained) // of finished stages
	for i := range all {
		l := newLane(c)
		all[i] = l
		c.lanes = append(c.lanes, l)
	}
	return all, backends.Limits{Depth: 1, Inline: inlineLimit}, nil
}

// Close implements backends.Conn. It waits for cancelled requests that the server still works on
// with memory pinned by this process.
func (c *conn) Close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	for {
		left := int64(0)
		for _, l := range c.lanes {
			l.drain()
			left += l.inServer.Load()
		}
		if left == 0 {
			break
		}
		if err := pause(ctx); err != nil {
			killChildren(c.target.InProcess.Repository)
			return fmt.Errorf("the server still works on %d requests: %w", left, err)
		}
	}
	c.closed = true
	c.pinner.Unpin()
	return c.host.release(c.key, c.server)
}
