package builtin

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// Parameters of a stream's messages, named as in Triton.
const (
	wantFinal = "triton_enable_empty_final_response"
	isFinal   = "triton_final_response"
)

// streamSender sends the messages of one stream, one at a time.
type streamSender struct {
	mu     sync.Mutex
	stream grpc.BidiStreamingServer[pb.ModelInferRequest, pb.ModelStreamInferResponse]
}

func (o *streamSender) send(m *pb.ModelStreamInferResponse) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stream.Send(m)
}

// streamOrder keeps the arrival order of sequence steps on a stream, until each has changed its
// sequence. nil: no order is needed.
type streamOrder struct {
	before <-chan struct{} // closed after the previous step
	mine   chan struct{}
	once   sync.Once
}

func (t *streamOrder) wait() {
	if t != nil && t.before != nil {
		<-t.before
	}
}

func (t *streamOrder) done() {
	if t != nil {
		t.once.Do(func() { close(t.mine) })
	}
}

// next returns the order of a request after t, if it is a step.
func (t *streamOrder) next(r *pb.ModelInferRequest) (of, last *streamOrder) {
	if r.Parameters["sequence_id"] == nil {
		return nil, t
	}
	of = &streamOrder{mine: make(chan struct{})}
	if t != nil {
		of.before = t.mine
	}
	return of, of
}

// ModelStreamInfer answers requests as they arrive, each when it is ready; an error of one of them
// is a message.
func (s grpcService) ModelStreamInfer(
	stream grpc.BidiStreamingServer[pb.ModelInferRequest, pb.ModelStreamInferResponse],
) error {
	ctx, leave := context.WithCancel(stream.Context())
	defer leave()
	out := &streamSender{stream: stream}
	var all sync.WaitGroup
	var last *streamOrder
	for {
		r, err := stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				leave()
			}
			all.Wait()
			return nil
		}
		var of *streamOrder
		of, last = last.next(r)
		all.Go(func() {
			defer of.done()
			s.streamed(ctx, out, r, of)
		})
	}
}

// streamed answers one request of a stream.
func (s grpcService) streamed(
	ctx context.Context, out *streamSender, r *pb.ModelInferRequest, turn *streamOrder,
) {
	use := s.use()
	defer use.done()
	inf, err := s.inferMessage(ctx, r, use, turn, true)
	switch {
	case errors.Is(err, errReset):
	case err != nil:
		out.fail(r, err)
	case inf.model.moves == nil:
		s.sendings.note(r.Id, 0, inf.arrived)
		_ = out.respond(r, inf, inf.results, true, use) // a stream that is gone ends by itself
	default:
		s.play(ctx, out, r, inf, use)
	}
}

// play sends the responses of a decoupled model, then the end of the request, if the request asks
// for it.
func (s grpcService) play(
	ctx context.Context, out *streamSender, r *pb.ModelInferRequest, inf *inference, use *resources,
) {
	index := 0
	for st := range inf.model.moves(inf.results) {
		if st.wait(ctx) != nil {
			return
		}
		switch st.act {
		case fail:
			out.fail(r, simulated(r.Id, inf.model.name))
			return
		case cutOff:
			resetGRPCPeer(ctx)
			return
		case respond, hang: // hang waits until the request is gone
		}
		wanted, err := s.wanted(inf, st.out)
		if err != nil {
			out.fail(r, err)
			return
		}
		s.sendings.note(r.Id, index, inf.arrived)
		if out.respond(r, inf, wanted, false, use) != nil {
			return
		}
		index++
	}
	if r.Parameters[wantFinal].GetBoolParam() {
		_ = out.respond(r, inf, nil, true, use)
	}
}

// fail sends an error about a request.
func (o *streamSender) fail(r *pb.ModelInferRequest, err error) {
	_ = o.send(&pb.ModelStreamInferResponse{
		ErrorMessage: asFailure(err).text, InferResponse: &pb.ModelInferResponse{Id: r.Id},
	})
}

// respond sends a response, or the end of a request.
func (o *streamSender) respond(
	r *pb.ModelInferRequest, inf *inference, out []tensor, final bool, use *resources,
) error {
	reply, err := inf.message(out, use)
	if err != nil {
		o.fail(r, err)
		return err
	}
	reply.Parameters = map[string]*pb.InferParameter{
		isFinal: {ParameterChoice: &pb.InferParameter_BoolParam{BoolParam: final}},
	}
	return o.send(&pb.ModelStreamInferResponse{InferResponse: reply})
}

// message returns a reply with outputs, in it or in the shared memory that the request names for
// them.
func (r *inference) message(out []tensor, use *resources) (*pb.ModelInferResponse, error) {
	reply := &pb.ModelInferResponse{ModelName: r.model.name, ModelVersion: version, Id: r.id}
	for _, t := range out {
		reply.Outputs = append(reply.Outputs,
			&pb.ModelInferResponse_InferOutputTensor{Name: t.name, Datatype: t.typ.name, Shape: t.shape})
		put, err := use.put(t)
		if err != nil {
			return nil, err
		}
		if put {
			t.data = nil
		}
		reply.RawOutputContents = append(reply.RawOutputContents, t.data)
	}
	return reply, nil
}
