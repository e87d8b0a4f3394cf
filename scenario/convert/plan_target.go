package convert

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// backendOf returns the plan's words for the kinds of server.
var backendOf = map[string]string{
	"triton": "triton", "triton_c_api": "triton_inprocess", "tfserving": "tfserving",
	"torchserve": "torchserve",
	"openai":     "openai", "dynamic_grpc": "grpc",
}

func (s *settings) target(p *page) {
	p.add("target:", "")
	p.add("  backend: "+backendOf[s.kind], s.because("--service-kind"))
	if s.inProcess() {
		members := flow("server_dir: "+s.path(s.serverDir), "repository: "+s.path(s.repository))
		p.add("  inprocess: "+members, "--triton-server-directory, --model-repository")
		if s.has("-u") {
			s.asides = append(s.asides, note{"-u", noNetwork})
		}
	} else {
		p.add("  url: "+scalar(s.address()), s.because("-u", "-i", "--ssl-grpc-use-ssl"))
	}
	if s.model != "" && s.kind == "dynamic_grpc" {
		s.asides = append(s.asides, note{"-m", "the method says what is called"})
	} else if s.model != "" {
		p.add("  model: "+scalar(s.model), "-m")
	}
	if s.modelVersion != "" {
		version := strconv.Quote(s.modelVersion)
		if n, err := strconv.ParseUint(s.modelVersion, 10,
			31); err == nil && strconv.FormatUint(n, 10) == s.modelVersion {
			version = s.modelVersion
		}
		p.add("  model_version: "+version, "-x")
	}
	s.endpoints(p)
	s.wire(p)
	s.tls(p)
	s.watched(p)
	p.add("", "")
}

// because returns those of the options that were given, as a comment.
func (s *settings) because(options ...string) string {
	var list []string
	for _, o := range options {
		if s.has(o) {
			list = append(list, o)
		}
	}
	return strings.Join(list, ", ")
}

// address returns the target's URL: that of -u, or perf_analyzer's default, with the scheme of its
// protocol.
func (s *settings) address() string {
	scheme, port := "http", "8000"
	if s.grpcSpoken() || s.kind == "dynamic_grpc" {
		scheme, port = "grpc", "8001"
		if s.grpcTLS {
			scheme = "grpcs"
		}
	}
	if s.kind == "tfserving" {
		port = "8500"
	}
	given := cmp.Or(s.url, net.JoinHostPort("localhost", port))
	if scheme != "http" { // gRPC's own ways to name a server
		if socket, found := strings.CutPrefix(given, "unix:"); found && !s.grpcTLS {
			return "grpc+unix://" + strings.TrimPrefix(socket, "//")
		}
		given = strings.TrimPrefix(strings.TrimPrefix(given, "dns:///"), "ipv4:")
	}
	if before, after, found := strings.Cut(given, "://"); found {
		if scheme == "http" || before == "builtin" {
			return given
		}
		given = after // gRPC over http:// is written grpc:// here
	}
	return scheme + "://" + given
}

// endpointOf returns the word for a path of OpenAI-like servers, by its ending; usual: it is the
// plan's default path.
func endpointOf(path string) (word string, usual bool) {
	for _, e := range [][2]string{ // the longer of two endings first
		{"chat/completions", "chat"},
		{"completions", "completions"},
		{"responses", "responses"},
		{"messages", "messages"},
		{"embeddings", "embeddings"},
		{"ranking", "rankings"},
		{"rankings", "rankings"},
		{"images/generations", "images"},
	} {
		if strings.HasSuffix(path, e[0]) {
			return e[1], path == "v1/"+e[0]
		}
	}
	return "chat", false
}

func (s *settings) endpoints(p *page) {
	switch {
	case s.kind == "openai":
		path := strings.Trim(s.endpoint, "/")
		word, usual := endpointOf(path)
		p.add("  endpoint: "+word, "--endpoint: what requests look like")
		if !usual {
			p.add("  path: "+scalar("/"+path), "--endpoint")
		}
		if slices.Contains([]string{"chat", "completions", "responses", "messages"},
			word) && s.payloadsStream() {
			p.add("  streaming: true", "the payloads ask for it")
		}
	case s.has("--endpoint"):
		s.no("--endpoint", "it is for --service-kind openai")
	}
	if s.kind == "tfserving" && s.signature != "" {
		p.add("  signature: "+scalar(s.signature), "--model-signature-name")
	} else {
		s.idle("--model-signature-name", "it is for --service-kind tfserving")
	}
	if s.kind == "dynamic_grpc" {
		p.add("  method: "+scalar(s.method), "--grpc-method")
		if s.proto != "" {
			p.add("  protos: {files: ["+s.path(s.proto)+"]}", "--proto")
		}
	} else {
		s.idle("--grpc-method", "it is for --service-kind dynamic_grpc")
	}
	if s.composing != nil {
		var names []string
		for _, c := range s.composing {
			names = append(names, scalar(c))
		}
		p.add("  composing_models: ["+strings.Join(names, ", ")+"]", "--bls-composing-models")
	}
}

// payloadsStream reports whether the first data file has payloads with "stream": true.
func (s *settings) payloadsStream() bool {
	data, err := s.o.Read(s.paths[0])
	text := strings.Join(strings.Fields(string(data)), "")
	return err == nil && strings.Contains(text, `"stream":true`)
}

// shareStreams reports whether --max-threads is the number of streams that carry the requests.
func (s *settings) shareStreams() bool {
	return s.streaming && s.grpcSpoken() && !s.inProcess() && s.has("--max-threads")
}

// inProcess reports whether the server is a library that the client loads: there is no network.
func (s *settings) inProcess() bool { return s.kind == "triton_c_api" }

const noNetwork = "the server runs inside the client"

func (s *settings) wire(p *page) {
	if s.inProcess() {
		for _, o := range []string{"-i", "-H", "--grpc-compression-algorithm", "--max-threads"} {
			s.idle(o, noNetwork)
		}
	}
	if s.grpcSpoken() || s.kind != "triton" {
		s.idle("--input-tensor-format", "it is for Triton over HTTP")
		s.idle("--output-tensor-format", "it is for Triton over HTTP")
	} else if s.inputFormat != "binary" || s.outputFormat != "binary" {
		p.add("  tensors: "+flow("input: "+s.inputFormat, "output: "+s.outputFormat),
			s.because("--input-tensor-format", "--output-tensor-format"))
	}
	if s.streaming {
		p.add("  streaming: true", "--streaming")
	}
	if s.shareStreams() {
		p.add("  connections: "+count(s.threads),
			"--max-threads: each thread has one stream, with all of its requests")
	}
	if s.compression != "none" && !s.inProcess() {
		p.add("  compression: "+s.compression, "--grpc-compression-algorithm")
	}
	if len(s.parameters) > 0 {
		p.add("  parameters:", "--request-parameter")
		for _, v := range s.parameters {
			value := v.value
			if v.kind == "string" {
				value = strconv.Quote(strings.ReplaceAll(value, "${", "$${"))
			}
			p.add("    "+scalar(v.name)+": "+value, "")
		}
	}
	if len(s.headers) == 0 || s.inProcess() {
		return
	}
	p.add("  headers:", "-H")
	for _, h := range s.headers {
		comment := ""
		if secretName(h.name) {
			comment = "better a variable: vars: {token: {env: TOKEN, secret: true}}, and ${token} here"
		}
		p.add("    "+scalar(h.name)+": "+scalar(h.value), comment)
	}
}

// secretName reports whether a header of this name most likely holds a secret.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"authorization", "token", "key", "secret", "cookie"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func (s *settings) tls(p *page) {
	files, names := s.https, [3]string{
		"--ssl-https-ca-certificates-file", "--ssl-https-client-certificate-file",
		"--ssl-https-private-key-file",
	}
	if s.grpcSpoken() {
		files, names = s.grpc, [3]string{
			"--ssl-grpc-root-certifications-file", "--ssl-grpc-certificate-chain-file",
			"--ssl-grpc-private-key-file",
		}
	}
	secure := !s.inProcess() && (strings.HasPrefix(s.address(),
		"https://") || strings.HasPrefix(s.address(), "grpcs://"))
	var members []string
	if files.key == "" {
		files.key = files.cert // PEM holds both in one file
	}
	for i, path := range []string{files.ca, files.cert, files.key} {
		switch {
		case path == "":
		case i == 2 && files.cert == "":
			s.idle(names[i], "there is no certificate that it belongs to")
		case !secure:
			s.idle(names[i], "the connection is not a secure one")
		default:
			members = append(members, []string{"ca: ", "cert: ", "key: "}[i]+s.path(path))
		}
	}
	if secure && !s.grpcSpoken() {
		switch {
		case s.verifyPeer == "0":
			members = append(members, "verify: none")
		case s.verifyHost != "2":
			members = append(members, "verify: ca")
		}
	}
	if len(members) > 0 {
		p.add("  tls: "+flow(members...),
			s.because(append(names[:], "--ssl-https-verify-peer", "--ssl-https-verify-host")...))
	}
	for _, file := range [][2]string{
		{"--ssl-https-client-certificate-type", s.certType},
		{"--ssl-https-private-key-type", s.keyType},
	} {
		if file[1] == "DER" {
			s.no(file[0], "a plan's certificates and keys are PEM: convert them with openssl")
		} else {
			s.idle(file[0], "they are PEM")
		}
	}
	if s.grpcTLS && !s.grpcSpoken() {
		s.idle("--ssl-grpc-use-ssl", "the protocol is HTTP")
	}
}

// watched writes the server's metrics and its trace.
func (s *settings) watched(p *page) {
	if s.metrics {
		members := []string{"url: " + scalar(s.metricsAddress())}
		if s.has("--metrics-interval") {
			const least, most = 10, 60 * 60 * 1000 // of the plan's `every`
			every := min(max(s.metricsEvery, least), most)
			members = append(members, "every: "+milliseconds(every))
			if every != s.metricsEvery {
				s.no("--metrics-interval", fmt.Sprintf("metrics are read every %s to %s: %s is taken",
					milliseconds(least), milliseconds(most), milliseconds(every)))
			}
		}
		members = append(members, `match: ["nv_gpu_*"]`)
		p.add("  metrics: "+flow(members...),
			s.because("--collect-metrics", "--metrics-url", "--metrics-interval"))
	}
	traced := s.has("--trace-rate") || s.has("--trace-count") || s.has("--log-frequency")
	switch {
	case s.kind != "triton":
		for _, o := range []string{"--trace-level", "--trace-rate", "--trace-count", "--log-frequency"} {
			s.idle(o, "it is for --service-kind triton")
		}
	case s.traceOff:
		s.idle("--trace-level", "nothing is traced")
	case s.traceLevels != nil || traced:
		var members []string
		if s.traceLevels != nil {
			members = append(members, "level: ["+strings.Join(s.traceLevels, ", ")+"]")
		}
		for _, n := range []struct {
			option, key string
			value       int64
		}{
			{"--trace-rate", "rate", s.traceRate},
			{"--trace-count", "count", s.traceCount},
			{"--log-frequency", "log_frequency", s.logFrequency},
		} {
			if s.has(n.option) {
				members = append(members, fmt.Sprintf("%s: %d", n.key, n.value))
			}
		}
		p.add("  trace: "+flow(members...),
			s.because("--trace-level", "--trace-rate", "--trace-count", "--log-frequency"))
	}
}

// metricsAddress returns the URL of the metrics: that of --metrics-url, else port 8002 of the
// server's host.
func (s *settings) metricsAddress() string {
	if s.metricsURL != "" {
		if strings.Contains(s.metricsURL, "://") {
			return s.metricsURL
		}
		return "http://" + s.metricsURL
	}
	host := "localhost"
	if u, err := url.Parse(s.address()); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return "http://" + net.JoinHostPort(host, "8002") + "/metrics"
}
