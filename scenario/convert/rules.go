package convert

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// rules reports all conflicts of options, in the order of a run: load, measurement, data, target.
func (s *settings) rules() {
	s.oneMode()
	s.levels()
	s.counts()
	s.calls()
	s.ofKind()
	s.watching()
	s.timed()
}

// clash reports an option that another one rules out.
func (s *settings) clash(option, with, why string) {
	s.fail(s.arg(option), codeClash, "%s does not go with %s", option, with).Detail = why
}

// needs reports an option that is missing for another one; option "" is the whole command line.
func (s *settings) needs(option, what, why string) {
	if option == "" {
		s.fail(-1, codeNeeds, "%s is missing", what).Detail = why
		return
	}
	s.fail(s.arg(option), codeNeeds, "%s needs %s", option, what).Detail = why
}

func (s *settings) oneMode() {
	for i, m := range s.modes {
		if i > 0 {
			s.fail(m.at, codeClash, "%s and %s both say where the load comes from", s.modes[0],
				m).Detail = "a command line has one; a plan has a stage for each"
		}
	}
	if s.model == "" && s.kind != "dynamic_grpc" {
		s.needs("", "the model, -m NAME,", "")
	}
	if s.mpi && (s.rate.to != 1 || s.rate.step != 1 || s.concurrency.to != 1 || s.concurrency.step != 1) {
		s.clash("--enable-mpi", "a range of levels", "under MPI every command holds one level")
	}
}

// many reports whether the load has several levels.
func (s *settings) many() bool {
	switch s.load() {
	case modeRate:
		return s.rate.from < s.rate.to || s.rate.to == 0
	case modeConcurrency, modeOld:
		return s.concurrency.from < s.concurrency.to || s.concurrency.to == 0
	case modeIntervals, modeSchedule, modePeriodic, modeSessions:
	}
	return false
}

// ranged returns the option of the levels, and their ends.
func (s *settings) ranged() (option string, from, to float64, ok bool) {
	switch s.load() {
	case modeRate:
		return string(modeRate), s.rate.from, s.rate.to, true
	case modeConcurrency:
		return string(modeConcurrency), float64(s.concurrency.from), float64(s.concurrency.to), true
	case modeOld:
		return "-c", float64(s.concurrency.from), float64(s.concurrency.to), true
	case modeIntervals, modeSchedule, modePeriodic, modeSessions:
	}
	return "", 0, 0, false
}

// maxLevels limits the levels of a range in a plan.
const maxLevels = 1000

func (s *settings) levels() {
	option, from, to, ok := s.ranged()
	step := float64(s.concurrency.step)
	if s.load() == modeRate {
		step = s.rate.step
	}
	switch {
	case !ok:
	case !s.binary && (to-from)/step >= maxLevels:
		s.fail(s.arg(option), codeValue, "%s has %.0f levels, a plan's range at most %d", option,
			(to-from)/step+1, maxLevels).Detail = "use a larger step"
	case s.binary && to == 0:
		s.needs("--binary-search", "an end of the range above 0", "it is the largest value that is tried")
	case s.binary && s.threshold == 0:
		s.needs("--binary-search", "--latency-threshold",
			"it looks for the largest load below that latency")
	case s.binary && to < from:
		s.fail(s.arg(option), codeValue,
			"%s: the end is below the start, and --binary-search looks between them", option)
	case to == 0 && s.threshold == 0:
		d := s.fail(s.arg(option), codeNeeds,
			"the end of %s and --latency-threshold are both 0, so the levels would never end", option)
		d.Detail = "give the last level, or the latency at which to stop"
	}
	if m := s.load(); m == modePeriodic && !s.streaming {
		s.needs(string(m), "--streaming", "the next requests start once each of the newest has N responses")
	}
	if m := s.load(); m == modePeriodic && s.export == "" {
		s.needs(string(m), "--profile-export-file", "there is no other output")
	}
}

func (s *settings) counts() {
	if s.many() && s.warmup > 0 {
		s.clash("--warmup-request-count", "several levels", "one level at a time can be warmed up so")
	}
	if s.requests == 0 {
		return
	}
	const option = "--request-count"
	switch {
	case s.many():
		s.clash(option, "several levels", "N requests are sent at one level")
	case s.closed() && s.requests < s.concurrency.from:
		s.fail(s.arg(option), codeValue, "%s is less than the concurrency, %d", option, s.concurrency.from)
	case s.load() == modeRate && s.requests < int64(s.rate.from):
		s.fail(s.arg(option), codeValue, "%s is less than the request rate, %v", option, s.rate.from)
	case s.load() == modeSchedule:
		s.clash(option, string(modeSchedule), "each row of the data is sent once")
	}
}

// calls checks the protocol and the options of the client.
func (s *settings) calls() {
	const dynamic = "dynamic_grpc" // is gRPC, whatever -i says
	if s.async && s.sync {
		s.clash("--async", "--sync", "")
	}
	if s.streaming && !s.grpcSpoken() && s.kind != dynamic && s.kind != "triton_c_api" {
		s.needs("--streaming", "gRPC or the C API", "add -i grpc")
	}
	if s.streaming && s.sync && s.kind != dynamic {
		s.clash("--streaming", "--sync", "a stream carries several requests")
	}
	if s.kind == dynamic {
		return
	}
	if s.has("--grpc-compression-algorithm") && !s.grpcSpoken() {
		s.needs("--grpc-compression-algorithm", "gRPC", "add -i grpc")
	}
	if s.has("--request-parameter") && !s.grpcSpoken() {
		s.needs("--request-parameter", "gRPC", "add -i grpc; a plan's parameters go over HTTP too")
	}
}

// ofKind checks the options of each kind of server.
func (s *settings) ofKind() {
	const kind = "--service-kind"
	user := len(s.paths) > 0
	if s.generate == "zero" && user {
		s.fail(s.generated.at, codeClash, "%s and data of files do not go together", s.generated)
	}
	switch s.kind {
	case "tfserving":
		if !s.grpcSpoken() {
			s.needs(kind, "gRPC", "add -i grpc")
		}
		if s.streaming {
			s.clash("--streaming", "tfserving", "")
		}
		if s.async {
			s.clash("--async", "tfserving", "")
		}
	case "torchserve":
		if !user {
			s.needs(kind, "--input-data", "a JSON file with a TORCHSERVE_INPUT in each row")
		}
	case "triton_c_api":
		s.ofLibrary()
	case "openai":
		s.ofOpenAI(user)
	case "dynamic_grpc":
		if s.async {
			s.clash("--async", "dynamic_grpc", "")
		}
		if !user {
			s.needs(kind, "--input-data", "a JSON file with a message_generator in its row")
		}
		if s.method == "" {
			s.needs(kind, "--grpc-method", "package.Service/Method")
		}
	}
	if s.load() == modeSessions && s.kind != "openai" {
		s.needs(string(modeSessions), "--service-kind openai", "")
	}
}

func (s *settings) ofLibrary() {
	if s.repository == "" {
		s.needs("--service-kind", "--model-repository", "the server runs inside the client")
	}
	if s.serverDir == "" {
		s.needs("--service-kind", "--triton-server-directory",
			"the folder that holds lib/libtritonserver.so")
	}
	if s.async && s.streaming && s.memory != "none" {
		s.clash("--shared-memory", "--async and --streaming in process", "")
	}
}

func (s *settings) ofOpenAI(user bool) {
	const kind = "--service-kind"
	if !user {
		s.needs(kind, "--input-data", "a JSON file with a payload in each row")
	}
	if s.endpoint == "" {
		s.needs(kind, "--endpoint", "such as v1/chat/completions")
	}
	if !s.async {
		s.needs(kind, "--async", "perf_analyzer has no other way to call such a server")
	}
	if s.batch != 1 {
		s.clash("-b", "openai", "a request is one payload")
	}
	if s.grpcSpoken() {
		s.clash("-i", "openai", "it is spoken over HTTP")
	}
}

// watching checks metrics and sequence ids.
func (s *settings) watching() {
	if s.metrics && s.kind != "triton" {
		s.clash("--collect-metrics", s.kind, "only Triton's are known")
	}
	for _, option := range []string{"--metrics-url", "--metrics-interval"} {
		if s.has(option) && !s.metrics {
			s.needs(option, "--collect-metrics", "")
		}
	}
	if s.batch > 1 && s.o.Model != nil && s.o.Model.Sequences {
		s.clash("-b", "a model that keeps sequences", "its requests are steps, sent one by one")
	}
	live, what := s.sequences, "sequences"
	if s.closed() {
		live, what = max(s.concurrency.from, s.concurrency.to), "requests in flight"
	}
	room := s.ids.to - s.ids.from
	if s.ids.to > 0 && room < live && s.load() != modePeriodic && s.load() != modeSessions {
		s.fail(s.arg("--sequence-id-range"), codeValue,
			"--sequence-id-range has %d ids, %d %s need one each", room, live, what)
	}
}

// timed checks --fixed-schedule.
func (s *settings) timed() {
	if s.load() != modeSchedule {
		return
	}
	if len(s.paths) == 0 {
		s.needs(string(modeSchedule), "--input-data", "files whose rows have timestamps")
		return
	}
	if s.dirs > 0 {
		s.fail(s.arg("--input-data"), codeClash, "--fixed-schedule reads files, --input-data has a folder")
		return
	}
	rows, known := 0, true
	for _, path := range s.paths {
		n, ok := s.rows(path)
		rows, known = rows+n, known && ok
	}
	if known && s.warmup >= int64(rows) && s.warmup > 0 {
		s.fail(s.arg("--warmup-request-count"), codeValue,
			"--warmup-request-count is %d, the data has %d rows, and each is sent once", s.warmup, rows)
	}
}

// rows counts the rows of a data file; false where that is unknown here.
func (s *settings) rows(path string) (int, bool) {
	data, err := s.o.Read(path)
	if err != nil {
		return 0, false // already reported
	}
	members := map[string]json.RawMessage{}
	var list []json.RawMessage
	at := s.arg("--input-data")
	switch {
	case json.Unmarshal(data, &members) != nil:
		s.fail(at, codeFile, "%q holds no JSON object", path)
	case members["data"] == nil || len(members) > 1:
		s.fail(at, codeFile, "%q has %s; for --fixed-schedule it has \"data\" alone", path,
			memberNames(members))
	case json.Unmarshal(members["data"],
		&list) != nil || len(list) == 0 || bytes.HasPrefix(bytes.TrimSpace(list[0]), []byte("[")):
		s.fail(at, codeFile, "\"data\" of %q is no list of rows", path)
	}
	return len(list), len(list) > 0
}

func memberNames(members map[string]json.RawMessage) string {
	var names []string
	for name := range members {
		names = append(names, `"`+name+`"`)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "no members"
	}
	return "the members " + strings.Join(names, ", ")
}
