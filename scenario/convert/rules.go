package convert

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
)

// rules reports all conflicts of options.
func (c *command) rules() {
	c.levels()
	c.counts()
	c.calls()
	c.ofKind()
	c.ids()
	if c.load.mode() == modeSchedule {
		c.timed()
	}
}

// levels checks the origin of the load and its levels.
func (c *command) levels() {
	l, m := &c.load, &c.measure
	for i, mode := range l.modes {
		if i > 0 {
			c.fail(mode.at, codeClash, "%s and %s both say where the load comes from", l.modes[0],
				mode).Help("a command line has one; a plan has a stage for each")
		}
	}
	c.clash(l.mpi && (l.rate.to != 1 || l.rate.step != 1 || l.concurrency.to != 1 || l.concurrency.step != 1),
		"--enable-mpi", "a range of levels", "under MPI every command holds one level")
	periodic := l.mode() == modePeriodic
	c.needs(periodic && !c.request.streaming, string(modePeriodic), "--streaming",
		"the next requests start once each of the newest has N responses")
	c.needs(periodic && c.out.Export == "", string(modePeriodic), "--profile-export-file",
		"there is no other output")

	const search = "--binary-search"
	option, r, ok := l.ranged()
	switch steps := (r.to - r.from) / r.step; {
	case !ok:
	case !l.binary && steps >= language.MaxValues:
		c.fail(c.arg(option), codeValue, "%s has %.0f levels, a plan's range at most %d", option,
			steps+1, language.MaxValues).Help("use a larger step")
	case l.binary && r.to == 0:
		c.needs(true, search, "an end of the range above 0", "it is the largest value that is tried")
	case l.binary && m.threshold == 0:
		c.needs(true, search, "--latency-threshold", "it looks for the largest load below that latency")
	case l.binary && r.to < r.from:
		c.fail(c.arg(option), codeValue,
			"%s: the end is below the start, and --binary-search looks between them", option)
	case r.to == 0 && m.threshold == 0:
		c.fail(c.arg(option), codeNeeds,
			"the end of %s and --latency-threshold are both 0, so the levels would never end", option).
			Help("give the last level, or the latency at which to stop")
	}
}

// counts checks the numbers of requests.
func (c *command) counts() {
	const option = "--request-count"
	l, m := &c.load, &c.measure
	c.clash(l.many() && m.warmup > 0, "--warmup-request-count", "several levels",
		"one level at a time can be warmed up so")
	switch {
	case m.requests == 0:
	case l.many():
		c.clash(true, option, "several levels", "N requests are sent at one level")
	case l.closed() && m.requests < l.concurrency.from:
		c.fail(c.arg(option), codeValue, "%s is less than the concurrency, %d", option, l.concurrency.from)
	case l.mode() == modeRate && m.requests < int64(l.rate.from):
		c.fail(c.arg(option), codeValue, "%s is less than the request rate, %v", option, l.rate.from)
	case l.mode() == modeSchedule:
		c.clash(true, option, string(modeSchedule), "each row of the data is sent once")
	}
}

// calls checks the protocol and the options of the client.
func (c *command) calls() {
	l, r, w := &c.load, &c.request, &c.watch
	dynamic := c.target.kind == "dynamic_grpc" // is gRPC, whatever -i says
	http := !dynamic && !c.target.overGRPC()
	c.clash(l.async && l.sync, "--async", "--sync", "")
	c.needs(r.streaming && http && !c.target.inProcess(), "--streaming", "gRPC or the C API", "add -i grpc")
	c.clash(r.streaming && l.sync && !dynamic, "--streaming", "--sync", "a stream carries several requests")
	c.needs(c.has("--grpc-compression-algorithm") && http, "--grpc-compression-algorithm", "gRPC",
		"add -i grpc")
	c.needs(c.has("--request-parameter") && http, "--request-parameter", "gRPC",
		"add -i grpc; a plan's parameters go over HTTP too")
	c.clash(w.metrics && c.target.kind != "triton", "--collect-metrics", c.target.kind,
		"only Triton's are known")
	for _, option := range []string{"--metrics-url", "--metrics-interval"} {
		c.needs(c.has(option) && !w.metrics, option, "--collect-metrics", "")
	}
}

// ofKind checks the options of each kind of server.
func (c *command) ofKind() {
	const kind = "--service-kind"
	l, d, t, r := &c.load, &c.data, &c.target, &c.request
	noFiles := len(d.paths) == 0
	if d.generated.value == "zero" && !noFiles {
		c.fail(d.generated.at, codeClash, "%s and data of files do not go together", d.generated)
	}
	if r.model == "" && t.kind != "dynamic_grpc" {
		c.fail(-1, codeNeeds, "the model, -m NAME, is missing")
	}
	c.needs(l.mode() == modeSessions && t.kind != "openai", string(modeSessions), "--service-kind openai", "")
	switch t.kind {
	case "tfserving":
		c.needs(!t.overGRPC(), kind, "gRPC", "add -i grpc")
		c.clash(r.streaming, "--streaming", "tfserving", "")
		c.clash(l.async, "--async", "tfserving", "")
	case "torchserve":
		c.needs(noFiles, kind, "--input-data", "a JSON file with a TORCHSERVE_INPUT in each row")
	case "triton_c_api":
		c.needs(t.repository == "", kind, "--model-repository", "the server runs inside the client")
		c.needs(t.serverDir == "", kind, "--triton-server-directory",
			"the folder that holds lib/libtritonserver.so")
		c.clash(l.async && r.streaming && d.memory != "none", "--shared-memory",
			"--async and --streaming in process", "")
	case "openai":
		c.needs(noFiles, kind, "--input-data", "a JSON file with a payload in each row")
		c.needs(r.endpoint == "", kind, "--endpoint", "such as v1/chat/completions")
		c.needs(!l.async, kind, "--async", "perf_analyzer has no other way to call such a server")
		c.clash(d.batch != 1, "-b", "openai", "a request is one payload")
		c.clash(t.overGRPC(), "-i", "openai", "it is spoken over HTTP")
	case "dynamic_grpc":
		c.clash(l.async, "--async", "dynamic_grpc", "")
		c.needs(noFiles, kind, "--input-data", "a JSON file with a message_generator in its row")
		c.needs(r.method == "", kind, "--grpc-method", "package.Service/Method")
	}
}

// ids checks sequences and their ids.
func (c *command) ids() {
	c.clash(c.data.batch > 1 && c.o.Model != nil && c.o.Model.Sequences, "-b",
		"a model that keeps sequences", "its requests are steps, sent one by one")
	l, ids := &c.load, c.sequences.ids
	live, what := c.sequences.live, "sequences"
	if l.closed() {
		live, what = max(l.concurrency.from, l.concurrency.to), "requests in flight"
	}
	room := ids.to - ids.from
	if ids.to > 0 && room < live && l.mode() != modePeriodic && l.mode() != modeSessions {
		c.fail(c.arg("--sequence-id-range"), codeValue,
			"--sequence-id-range has %d ids, %d %s need one each", room, live, what)
	}
}

// timed checks --fixed-schedule.
func (c *command) timed() {
	if c.data.dir != "" {
		c.fail(c.arg("--input-data"), codeClash, "--fixed-schedule reads files, --input-data has a folder")
		return
	}
	c.needs(len(c.data.paths) == 0, string(modeSchedule), "--input-data", "files whose rows have timestamps")
	rows, known := 0, len(c.data.paths) > 0
	for _, path := range c.data.paths {
		n := c.rows(path)
		rows, known = rows+n, known && n > 0
	}
	if warmup := c.measure.warmup; known && warmup >= int64(rows) {
		c.fail(c.arg("--warmup-request-count"), codeValue,
			"--warmup-request-count is %d, the data has %d rows, and each is sent once", warmup, rows)
	}
}

// rows counts the rows of a data file; 0 where that is unknown here.
func (c *command) rows(path string) int {
	data, err := readFile(path)
	if err != nil {
		return 0 // already reported
	}
	members := map[string]json.RawMessage{}
	var list []json.RawMessage
	at := c.arg("--input-data")
	switch {
	case json.Unmarshal(data, &members) != nil:
		c.fail(at, codeFile, "%q holds no JSON object", path)
	case members["data"] == nil || len(members) > 1:
		c.fail(at, codeFile, "%q has %s; for --fixed-schedule it has \"data\" alone", path,
			memberNames(members))
	case json.Unmarshal(members["data"], &list) != nil || len(list) == 0 || isList(list[0]):
		c.fail(at, codeFile, "\"data\" of %q is no list of rows", path)
	}
	return len(list)
}

// isList reports whether a JSON value is a list.
func isList(value []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(value), []byte("[")) }

func memberNames(members map[string]json.RawMessage) string {
	if len(members) == 0 {
		return "no members"
	}
	return `the members "` + strings.Join(slices.Sorted(maps.Keys(members)), `", "`) + `"`
}
