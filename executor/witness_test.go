package executor

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/tensor"
)

// witness is a KServe server by net/http alone that writes down what it is sent: over HTTP/1.1, and
// over gRPC as plain HTTP/2 with hand-made protobuf. Its model takes IN and gives OUT and OUT2,
// with batches up to 64.
type witness struct {
	*httptest.Server
	typ    string // datatype of IN
	dim    int64  // of IN, -1: any
	stats  bool   // the statistics extension
	status int    // of replies to inference: HTTP's, or gRPC's where it is below 100; 0: fine
	fails  int    // how many requests get that status; 0: all
	hold   chan struct{}
	takes  time.Duration  // of a request, so that all slots come into play
	cold   int            // how many of the first requests take 1.2 s
	alter  func(*replied) // of the right reply; nil: it stays as it is

	mu    sync.Mutex
	seen  []request
	paths map[string]int // control calls
	open  int            // requests of inference in progress
	peak  int
}

// request is one inference request as the witness understood it.
type request struct {
	model, version string
	header         http.Header
	peer           string
	params         map[string]any
	outputs        []string
	in, out        map[string]any // parameters of IN, and of the outputs, whichever they are of
	shape          []int64
	data           []byte // raw form of IN; nil: JSON
	text           string // JSON form of IN's data
	binaryOutput   bool
}

// watch starts a witness.
func watch(t *testing.T, change func(*witness)) *witness {
	t.Helper()
	w := &witness{typ: "INT32", dim: -1, paths: map[string]int{}}
	if change != nil {
		change(w)
	}
	w.Server = httptest.NewUnstartedServer(w)
	w.Config.Protocols = new(http.Protocols)
	w.Config.Protocols.SetHTTP1(true)
	w.Config.Protocols.SetUnencryptedHTTP2(true)
	w.Start()
	t.Cleanup(w.Close)
	return w
}

// url is where it is for a transport.
func (w *witness) url(transport string) string {
	return transport + "://" + strings.TrimPrefix(w.URL, "http://")
}

func (w *witness) all() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]request(nil), w.seen...)
}

// ServeHTTP implements http.Handler.
func (w *witness) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	body, _ := io.ReadAll(in.Body)
	if strings.HasPrefix(in.Header.Get("Content-Type"), "application/grpc") {
		w.grpc(out, in, body)
		return
	}
	model, version, verb := parts(in.URL.Path)
	if in.Method == http.MethodPost {
		r := readHTTP(in, body)
		r.model, r.version = model, version
		if n := w.infer(in, r); w.status != 0 && (w.fails == 0 || n <= w.fails) {
			out.WriteHeader(w.status)
		}
		a := w.answers(&r)
		a.http(out, r.binaryOutput)
		return
	}
	w.note(in.URL.Path)
	switch {
	case in.URL.Path == "/v2":
		extensions := []string{"binary_tensor_data", "model_configuration", "classification"}
		if w.stats {
			extensions = append(extensions, "statistics")
		}
		_ = json.NewEncoder(out).Encode(map[string]any{"name": "witness", "extensions": extensions})
	case verb == "config":
		fmt.Fprintf(out, `{"max_batch_size":64}`)
	case verb == "" && model != "":
		fmt.Fprintf(out, `{"name":%q,"versions":["1"],"inputs":[{"name":"IN","datatype":%q,"shape":[-1,%d]}],
			"outputs":[{"name":"OUT","datatype":"INT32","shape":[-1,1]},{"name":"OUT2","datatype":"INT32","shape":[-1,1]}]}`, model, w.typ, w.dim)
	}
}

func (w *witness) note(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths[path]++
}

// infer writes a request down, and holds it as long as it is told to. n is its number, from 1.
func (w *witness) infer(in *http.Request, r request) (n int) {
	r.header, r.peer = in.Header, in.RemoteAddr
	w.mu.Lock()
	w.seen = append(w.seen, r)
	n = len(w.seen)
	w.open++
	w.peak = max(w.peak, w.open)
	w.mu.Unlock()
	if w.hold != nil {
		select {
		case <-w.hold:
		case <-in.Context().Done():
		}
	}
	if w.takes > 0 {
		<-time.After(w.takes)
	}
	if n <= w.cold {
		<-time.After(1200 * time.Millisecond)
	}
	w.mu.Lock()
	w.open--
	w.mu.Unlock()
	return n
}

// parts takes /v2/models/MODEL[/versions/VERSION][/VERB] apart.
func parts(path string) (model, version, verb string) {
	rest, ok := strings.CutPrefix(path, "/v2/models/")
	if !ok {
		return "", "", ""
	}
	p := strings.Split(rest, "/")
	model, p = p[0], p[1:]
	if len(p) > 1 && p[0] == "versions" {
		version, p = p[1], p[2:]
	}
	return model, version, strings.Join(p, "/")
}

// wanted is an output as it is asked for: NAME, or NAME/CLASSES.
func wanted(name string, classes any) string {
	if classes == nil {
		return name
	}
	return fmt.Sprint(name, "/", classes)
}

// replied is a reply, whatever the protocol.
type replied struct {
	model, version, id string
	outputs            []replyTensor
}

type replyTensor struct {
	name, typ string
	shape     []int64
}

// values is how many elements a replyTensor has.
func (t *replyTensor) values() int {
	n := 1
	for _, d := range t.shape {
		n *= int(d)
	}
	return n
}

// data are zeros, or texts, in raw form.
func (t *replyTensor) data() []byte {
	if t.typ == "BYTES" {
		return []byte(strings.Repeat("\x01\x00\x00\x00a", t.values()))
	}
	return make([]byte, t.values()*tensor.DataType(t.typ).Size())
}

// answers gives the right reply to a request, or what alter makes of it.
func (w *witness) answers(r *request) replied {
	a, batch := replied{model: r.model}, int64(1)
	if len(r.shape) > 0 {
		batch = r.shape[0]
	}
	names := r.outputs
	if len(names) == 0 {
		names = []string{"OUT", "OUT2"}
	}
	for _, o := range names {
		name, classes, best := strings.Cut(o, "/")
		t := replyTensor{name, "INT32", []int64{batch, 1}}
		if best {
			n, _ := strconv.ParseInt(classes, 10, 64)
			t = replyTensor{name, "BYTES", []int64{batch, n}}
		}
		a.outputs = append(a.outputs, t)
	}
	if w.alter != nil {
		w.alter(&a)
	}
	return a
}

// http writes the reply with tensors as JSON, or behind it.
func (a *replied) http(out http.ResponseWriter, raw bool) {
	type object = map[string]any
	var outputs []object
	var behind []byte
	for i := range a.outputs {
		t := &a.outputs[i]
		o := object{"name": t.name, "datatype": t.typ, "shape": t.shape}
		if raw {
			o["parameters"] = object{"binary_data_size": len(t.data())}
			behind = append(behind, t.data()...)
		} else {
			data := make([]any, t.values())
			for k := range data {
				if data[k] = 0; t.typ == "BYTES" {
					data[k] = "a"
				}
			}
			o["data"] = data
		}
		outputs = append(outputs, o)
	}
	doc := object{"outputs": append([]object{}, outputs...)}
	for name, v := range map[string]string{"model_name": a.model, "model_version": a.version, "id": a.id} {
		if v != "" {
			doc[name] = v
		}
	}
	text, _ := json.Marshal(doc)
	if raw {
		out.Header().Set("Inference-Header-Content-Length", strconv.Itoa(len(text)))
	}
	_, _ = out.Write(append(text, behind...))
}

// grpc gives the reply as a ModelInferResponse.
func (a *replied) grpc() (m []byte) {
	for i, v := range []string{a.model, a.version, a.id} {
		if v != "" {
			m = append(m, bytesField(uint64(i+1), []byte(v))...)
		}
	}
	for i := range a.outputs {
		t := &a.outputs[i]
		o := append(bytesField(1, []byte(t.name)), bytesField(2, []byte(t.typ))...)
		var dims []byte
		for _, d := range t.shape {
			dims = varint(dims, uint64(d))
		}
		m = append(m, bytesField(5, append(o, bytesField(3, dims)...))...)
	}
	for i := range a.outputs {
		m = append(m, bytesField(6, a.outputs[i].data())...)
	}
	return m
}

func readHTTP(in *http.Request, body []byte) request {
	size := len(body)
	if n, err := strconv.Atoi(in.Header.Get("Inference-Header-Content-Length")); err == nil {
		size = n
	}
	var doc struct {
		Parameters map[string]any
		Inputs     []struct {
			Shape      []int64
			Data       json.RawMessage
			Parameters map[string]any
		}
		Outputs []struct {
			Name       string
			Parameters map[string]any
		}
	}
	d := json.NewDecoder(strings.NewReader(string(body[:size])))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil || len(doc.Inputs) != 1 {
		return request{text: fmt.Sprintf("unreadable: %v %q", err, body)}
	}
	r := request{
		params: doc.Parameters, in: doc.Inputs[0].Parameters, out: map[string]any{}, shape: doc.Inputs[0].Shape,
		text: string(doc.Inputs[0].Data), binaryOutput: doc.Parameters["binary_data_output"] == true,
	}
	delete(r.params, "binary_data_output")
	if doc.Inputs[0].Data == nil {
		r.data = body[size:]
	}
	for _, o := range doc.Outputs {
		r.outputs = append(r.outputs, wanted(o.Name, o.Parameters["classification"]))
		r.binaryOutput = o.Parameters["binary_data"] == true
		maps.Copy(r.out, o.Parameters)
	}
	for _, params := range []map[string]any{r.params, r.in, r.out} {
		for k, v := range params {
			if n, ok := v.(json.Number); ok {
				if i, err := n.Int64(); err == nil {
					params[k] = i
				} else if f, err := n.Float64(); err == nil {
					params[k] = f
				}
			}
		}
	}
	delete(r.in, "binary_data_size")
	delete(r.out, "binary_data")
	delete(r.out, "classification")
	return r
}

// grpc answers a unary call.
func (w *witness) grpc(out http.ResponseWriter, in *http.Request, body []byte) {
	method := in.URL.Path[strings.LastIndexByte(in.URL.Path, '/')+1:]
	var message []byte
	if len(body) >= 5 {
		message = body[5:]
	}
	var reply []byte
	status := 0
	switch method {
	case "ServerLive", "ServerReady", "ModelReady":
		reply = []byte{1 << 3, 1}
	case "ServerMetadata":
		reply = append(bytesField(3, []byte("model_configuration")), bytesField(3, []byte("classification"))...)
	case "ModelMetadata":
		shape := func(d int64) []byte { return append(varint(nil, math.MaxUint64), varint(nil, uint64(d))...) }
		tensor := func(name, typ string, d int64) []byte {
			return append(append(bytesField(1, []byte(name)), bytesField(2, []byte(typ))...),
				bytesField(3, shape(d))...)
		}
		reply = append(append(append(bytesField(1, []byte("m")), bytesField(4, tensor("IN", w.typ, w.dim))...),
			bytesField(5, tensor("OUT", "INT32", 1))...), bytesField(5, tensor("OUT2", "INT32", 1))...)
	case "ModelConfig":
		reply = bytesField(1, []byte{4 << 3, 64})
	case "ModelInfer":
		r := readGRPC(message)
		w.infer(in, r)
		a := w.answers(&r)
		reply, status = a.grpc(), w.status
	}
	if method != "ModelInfer" {
		w.note(method)
	}
	out.Header().Set("Content-Type", "application/grpc")
	out.Header().Set("Trailer", "Grpc-Status")
	if status == 0 {
		_, _ = out.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(reply))), reply...))
	}
	out.Header().Set("Grpc-Status", strconv.Itoa(status))
}

func varint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

func bytesField(n uint64, b []byte) []byte {
	return append(varint(varint(nil, n<<3|2), uint64(len(b))), b...)
}

// fields calls visit for each field of a protobuf message.
func fields(b []byte, visit func(n, v uint64, b []byte)) {
	for len(b) > 0 {
		tag, k := binary.Uvarint(b)
		if k <= 0 {
			return
		}
		b = b[k:]
		switch tag & 7 {
		case 0:
			v, k := binary.Uvarint(b)
			b = b[max(k, 1):]
			visit(tag>>3, v, nil)
		case 1:
			visit(tag>>3, binary.LittleEndian.Uint64(b), nil)
			b = b[8:]
		case 2:
			v, k := binary.Uvarint(b)
			visit(tag>>3, 0, b[k:k+int(v)])
			b = b[k+int(v):]
		default:
			return
		}
	}
}

func readGRPC(message []byte) request {
	r := request{params: map[string]any{}, in: map[string]any{}, out: map[string]any{}, binaryOutput: true}
	fields(message, func(n, _ uint64, b []byte) {
		switch n {
		case 1:
			r.model = string(b)
		case 2:
			r.version = string(b)
		case 4:
			readParameter(b, r.params)
		case 5:
			fields(b, func(n, v uint64, b []byte) {
				if n == 4 {
					readParameter(b, r.in)
				}
				if n == 3 && b == nil {
					r.shape = append(r.shape, int64(v))
				}
				for n == 3 && len(b) > 0 {
					d, k := binary.Uvarint(b)
					r.shape, b = append(r.shape, int64(d)), b[k:]
				}
			})
		case 6:
			name, params := "", map[string]any{}
			fields(b, func(n, _ uint64, b []byte) {
				if n == 1 {
					name = string(b)
				} else {
					readParameter(b, params)
				}
			})
			r.outputs = append(r.outputs, wanted(name, params["classification"]))
			delete(params, "classification")
			maps.Copy(r.out, params)
		case 7:
			r.data = b
		}
	})
	return r
}

// readParameter reads an entry of map<string, InferParameter>.
func readParameter(entry []byte, into map[string]any) {
	var key string
	fields(entry, func(n, _ uint64, b []byte) {
		if n == 1 {
			key = string(b)
			return
		}
		fields(b, func(n, v uint64, b []byte) {
			into[key] = map[uint64]any{1: v == 1, 2: int64(v), 3: string(b), 4: math.Float64frombits(v)}[n]
		})
	})
}

// ints is raw INT32 data as numbers.
func ints(data []byte) []int32 {
	var list []int32
	for i := 0; i+4 <= len(data); i += 4 {
		list = append(list, int32(binary.LittleEndian.Uint32(data[i:])))
	}
	return list
}

// strs is raw BYTES data as strings.
func strs(data []byte) []string {
	var list []string
	for len(data) >= 4 {
		n := binary.LittleEndian.Uint32(data)
		list, data = append(list, string(data[4:4+n])), data[4+n:]
	}
	return list
}

// until polls a condition for at most a generous time; what it was wanted for shows whether it came.
func until(holds func() bool) {
	deadline := time.Now().Add(20 * time.Second)
	for now := range time.Tick(time.Millisecond) {
		if holds() || now.After(deadline) {
			return
		}
	}
}
