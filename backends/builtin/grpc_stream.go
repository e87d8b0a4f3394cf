package builtin

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// streamSender sends the messages of one stream, one at a time.
type streamSender struct {
	mu     sync.Mutex
	stream grpc.ServerStream
}

func (o *streamSender) send(m *pb.ModelStreamInferResponse) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stream.SendMsg(m)
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

// inferStream is the handler of ModelStreamInfer. It answers requests as they arrive, each when it is
// ready; an error of one of them is a message.
func (s *Server) inferStream(stream grpc.ServerStream) error {
	ctx, leave := context.WithCancel(stream.Context())
	defer leave()
	out := &streamSender{stream: stream}
	var all sync.WaitGroup
	var last *streamOrder
	for {
		r := &pb.ModelInferRequest{}
		if err := stream.RecvMsg(r); err != nil {
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
			if err := s.streamed(ctx, out, r, of); err != nil && !errors.Is(err, errReset) {
				_ = out.send(&pb.ModelStreamInferResponse{
					ErrorMessage: asFailure(err).text, InferResponse: &pb.ModelInferResponse{Id: r.Id},
				})
			}
		})
	}
}

// streamed answers one request of a stream: with its responses, of which the only one of a model that
// is not decoupled is final, and for a decoupled model with the end of the request, if the request
// asks for it.
func (s *Server) streamed(
	ctx context.Context, out *streamSender, r *pb.ModelInferRequest, turn *streamOrder,
) error {
	use := s.use()
	defer use.done()
	inf, err := s.inferMessage(ctx, r, use, turn, true)
	if err != nil {
		return err
	}
	answer := func(tensors []tensor, final bool) error {
		reply, err := inf.message(tensors, use)
		if err != nil {
			return err
		}
		reply.Parameters = map[string]*pb.InferParameter{
			"triton_final_response": {ParameterChoice: &pb.InferParameter_BoolParam{BoolParam: final}},
		}
		return out.send(&pb.ModelStreamInferResponse{InferResponse: reply})
	}
	decoupled := inf.model.moves != nil
	err = s.play(ctx, inf, func(tensors []tensor) error { return answer(tensors, !decoupled) })
	switch {
	case errors.Is(err, errReset):
		resetGRPCPeer(ctx)
	case err == nil && decoupled && r.Parameters["triton_enable_empty_final_response"].GetBoolParam():
		return answer(nil, true)
	}
	return err
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
