package convert

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
)

const noNetwork = "the server runs inside the client"

func writeTarget(d *draft) {
	t, r := &d.target, &d.request
	backend := map[string]string{"triton_c_api": "triton_inprocess", "dynamic_grpc": "grpc"}[t.kind]
	d.Add("target:", "")
	d.Add("  backend: "+cmp.Or(backend, t.kind), d.because("--service-kind"))
	if t.inProcess() {
		d.Add("  inprocess: "+plantext.Flow("server_dir: "+d.path(t.serverDir),
			"repository: "+d.path(t.repository)),
			"--triton-server-directory, --model-repository")
		d.idle(noNetwork, "-u")
	} else {
		d.Add("  url: "+plantext.Scalar(t.address()), d.because("-u", "-i", "--ssl-grpc-use-ssl"))
	}
	switch {
	case r.model == "":
	case t.kind == "dynamic_grpc":
		d.idle("the method says what is called", "-m")
	default:
		d.Add("  model: "+plantext.Scalar(r.model), "-m")
	}
	if r.version != "" {
		version := strconv.Quote(r.version)
		n, err := strconv.ParseUint(r.version, 10, 31)
		if err == nil && strconv.FormatUint(n, 10) == r.version {
			version = r.version
		}
		d.Add("  model_version: "+version, "-x")
	}
	writeEndpoint(d)
	writeWire(d)
	writeTLS(d)
	writeMetrics(d)
	writeTrace(d)
	d.Add("", "")
}

// address returns the target's URL: that of -u, or perf_analyzer's default, with the scheme of its
// protocol.
func (t *serving) address() string {
	scheme, port := "http", "8000"
	if t.overGRPC() || t.kind == "dynamic_grpc" {
		scheme, port = "grpc", "8001"
		if t.grpcTLS {
			scheme = "grpcs"
		}
	}
	if t.kind == "tfserving" {
		port = "8500"
	}
	given := cmp.Or(t.url, net.JoinHostPort("localhost", port))
	if scheme != "http" { // gRPC's own ways to name a server
		if socket, found := strings.CutPrefix(given, "unix:"); found && !t.grpcTLS {
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
	for _, e := range []pair{ // the longer of two endings first
		{"chat/completions", "chat"},
		{"completions", "completions"},
		{"responses", "responses"},
		{"messages", "messages"},
		{"embeddings", "embeddings"},
		{"ranking", "rankings"},
		{"rankings", "rankings"},
		{"images/generations", "images"},
	} {
		if strings.HasSuffix(path, e.name) {
			return e.value, path == "v1/"+e.name
		}
	}
	return "chat", false
}

func writeEndpoint(d *draft) {
	t, r := &d.target, &d.request
	if t.kind == "openai" {
		path := strings.Trim(r.endpoint, "/")
		word, usual := endpointOf(path)
		d.Add("  endpoint: "+word, "--endpoint: what requests look like")
		if !usual {
			d.Add("  path: "+plantext.Scalar("/"+path), "--endpoint")
		}
		streams := slices.Contains([]string{"chat", "completions", "responses", "messages"}, word)
		if streams && payloadsStream(d.command) {
			d.Add("  streaming: true", "the payloads ask for it")
		}
	} else if d.has("--endpoint") {
		d.no("--endpoint", "it is for --service-kind openai")
	}
	if t.kind == "tfserving" && r.signature != "" {
		d.Add("  signature: "+plantext.Scalar(r.signature), "--model-signature-name")
	} else {
		d.idle("it is for --service-kind tfserving", "--model-signature-name")
	}
	if t.kind == "dynamic_grpc" {
		d.Add("  method: "+plantext.Scalar(r.method), "--grpc-method")
		if r.proto != "" {
			d.Add("  protos: {files: ["+d.path(r.proto)+"]}", "--proto")
		}
	} else {
		d.idle("it is for --service-kind dynamic_grpc", "--grpc-method")
	}
	if r.composing != nil {
		names := make([]string, len(r.composing))
		for i, c := range r.composing {
			names[i] = plantext.Scalar(c)
		}
		d.Add("  composing_models: ["+strings.Join(names, ", ")+"]", "--bls-composing-models")
	}
}

// payloadsStream reports whether the first data file has payloads with "stream": true.
func payloadsStream(c *command) bool {
	data, err := readFile(c.data.paths[0])
	text := strings.Join(strings.Fields(string(data)), "")
	return err == nil && strings.Contains(text, `"stream":true`)
}

// shareStreams reports whether --max-threads is the number of streams that carry the requests.
func shareStreams(d *draft) bool {
	return d.request.streaming && d.target.overGRPC() && !d.target.inProcess() && d.has("--max-threads")
}

func writeWire(d *draft) {
	t, r := &d.target, &d.request
	if t.inProcess() {
		d.idle(noNetwork, "-i", "-H", "--grpc-compression-algorithm", "--max-threads")
	}
	if t.overGRPC() || t.kind != "triton" {
		d.idle("it is for Triton over HTTP", "--input-tensor-format", "--output-tensor-format")
	} else if r.inputFormat != "binary" || r.outputFormat != "binary" {
		d.Add("  tensors: "+plantext.Flow("input: "+r.inputFormat, "output: "+r.outputFormat),
			d.because("--input-tensor-format", "--output-tensor-format"))
	}
	if r.streaming {
		d.Add("  streaming: true", "--streaming")
	} else if d.target.kind == "dynamic_grpc" {
		d.Add("  # streaming: true", "for a method that streams; perf_analyzer calls each as one that does")
	}
	if shareStreams(d) {
		d.Add("  connections: "+plantext.Count(d.load.threads),
			"--max-threads: each thread has one stream, with all of its requests")
	}
	if r.compression != "none" && !t.inProcess() {
		d.Add("  compression: "+r.compression, "--grpc-compression-algorithm")
	}
	if len(r.parameters) > 0 {
		d.Add("  parameters:", "--request-parameter")
		for _, p := range r.parameters {
			d.Add("    "+plantext.Scalar(p.name)+": "+p.value, "")
		}
	}
	if len(r.headers) == 0 || t.inProcess() {
		return
	}
	d.Add("  headers:", "-H")
	for _, h := range r.headers {
		d.Add("    "+plantext.Scalar(h.name)+": "+plantext.Scalar(h.value), "")
	}
}

func writeTLS(d *draft) {
	t := &d.target
	files, options := t.https, []string{
		"--ssl-https-ca-certificates-file", "--ssl-https-client-certificate-file",
		"--ssl-https-private-key-file",
	}
	if t.overGRPC() {
		files, options = t.grpc, []string{
			"--ssl-grpc-root-certifications-file", "--ssl-grpc-certificate-chain-file",
			"--ssl-grpc-private-key-file",
		}
	}
	scheme, _, _ := strings.Cut(t.address(), "://")
	secure := !t.inProcess() && (scheme == "https" || scheme == "grpcs")
	files.key = cmp.Or(files.key, files.cert) // PEM holds both in one file
	var members []string
	for i, f := range []pair{{"ca", files.ca}, {"cert", files.cert}, {"key", files.key}} {
		switch {
		case f.value == "":
		case f.name == "key" && files.cert == "":
			d.idle("there is no certificate that it belongs to", options[i])
		case !secure:
			d.idle("the connection is not a secure one", options[i])
		default:
			members = append(members, f.name+": "+d.path(f.value))
		}
	}
	switch {
	case !secure || t.overGRPC():
	case t.verifyPeer == "0":
		members = append(members, "verify: none")
	case t.verifyHost != "2":
		members = append(members, "verify: ca")
	}
	if len(members) > 0 {
		d.Add("  tls: "+plantext.Flow(members...),
			d.because(append(options, "--ssl-https-verify-peer", "--ssl-https-verify-host")...))
	}
	for _, form := range []pair{
		{"--ssl-https-client-certificate-type", t.certType}, {"--ssl-https-private-key-type", t.keyType},
	} {
		if form.value == "DER" {
			d.no(form.name, "a plan's certificates and keys are PEM: convert them with openssl")
		} else {
			d.idle("they are PEM", form.name)
		}
	}
	if !t.overGRPC() {
		d.idle("the protocol is HTTP", "--ssl-grpc-use-ssl")
	}
}

func writeMetrics(d *draft) {
	w := &d.watch
	if !w.metrics {
		return
	}
	members := []string{"url: " + plantext.Scalar(metricsAddress(d.command))}
	if d.has("--metrics-interval") {
		const least, most = 10, 60 * 60 * 1000 // of the plan's `every`
		every := min(max(w.metricsEvery, least), most)
		members = append(members, "every: "+plantext.Milliseconds(every))
		if every != w.metricsEvery {
			d.no("--metrics-interval", fmt.Sprintf("metrics are read every %s to %s: %s is taken",
				plantext.Milliseconds(least), plantext.Milliseconds(most), plantext.Milliseconds(every)))
		}
	}
	d.Add("  metrics: "+plantext.Flow(append(members, `match: ["nv_gpu_*"]`)...),
		d.because("--collect-metrics", "--metrics-url", "--metrics-interval"))
}

// metricsAddress returns the URL of the metrics: that of --metrics-url, else port 8002 of the
// server's host.
func metricsAddress(c *command) string {
	if given := c.watch.metricsURL; strings.Contains(given, "://") {
		return given
	} else if given != "" {
		return "http://" + given
	}
	host := "localhost"
	if u, err := url.Parse(c.target.address()); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return "http://" + net.JoinHostPort(host, "8002") + "/metrics"
}

func writeTrace(d *draft) {
	w := &d.watch
	options := []string{"--trace-level", "--trace-rate", "--trace-count", "--log-frequency"}
	switch {
	case d.target.kind != "triton":
		d.idle("it is for --service-kind triton", options...)
		return
	case w.traceOff:
		d.idle("nothing is traced", "--trace-level")
		return
	}
	var members []string
	if w.traceLevels != nil {
		members = append(members, "level: ["+strings.Join(w.traceLevels, ", ")+"]")
	}
	for i, value := range []int64{w.traceRate, w.traceCount, w.logFrequency} {
		if d.has(options[i+1]) {
			members = append(members, []string{"rate: ", "count: ", "log_frequency: "}[i]+plantext.Count(value))
		}
	}
	if members != nil {
		d.Add("  trace: "+plantext.Flow(members...), d.because(options...))
	}
}
