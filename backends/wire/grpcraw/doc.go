// Package grpcraw makes gRPC calls of messages that are encoded already: unary lanes, lanes that are bidirectional streams,
// and single calls, on connections that are ready before the clock starts.
//
// It is not: a place that knows messages or models, a layer that retries (a stale connection aside), a load balancer.
//
// Unary calls with a connection each are this client's own HTTP/2 (wire/http2 on wire/netlane). All else is grpc-go: calls that
// share connections, streams, single calls. What grpc-go does by itself and a benchmark must not have is off: proxies from
// the environment, service configs, retries, idleness, deadlines. Flow-control windows are static (1 MiB a stream, 16 MiB a
// connection), which spares the pings that grpc-go otherwise sizes them with. Its transparent retry stays: it repeats what no
// server has seen.
//
// # Connections
//
//	Options.Connections    unary lanes                              streams
//	0                      one each                                 one for up to 64 of them
//	N                      N, shared evenly, by grpc-go             N, shared evenly
//	PerRequest             a new one for each request               one each
//
// Beside a bare grpc-go loop (BenchmarkUnary: 1 KiB each way, the server another process on the same two cores) a call on a
// connection of its own costs the client 0.61, 0.93 and 0.86 times the CPU at 1, 16 and 64 lanes and allocates nothing, one on a
// shared connection 1.00, 1.09 and 1.13 times and as much as the bare loop: 80 allocations.
//
// # Limits of the server
//
// There are no more lanes on a connection than the server takes streams at once (MAX_CONCURRENT_STREAMS): streams get other
// connections, and where the plan fixes their number set-up fails. If the server lowers its limit later, a stream that is opened
// anew moves to another connection, one that cannot be opened within the connect timeout ends its request as dial, and a unary
// call on a shared connection waits in Send, which is in its latency. A call with more fields than the server takes
// (MAX_HEADER_LIST_SIZE) is not sent: class write.
//
// # Streams
//
// A stream lane (Pool.Streams) keeps one stream open and carries up to its depth of requests on it, which replies name by id.
// Streams share connections as unary calls do. A stream that ends is answered for once by each request on it, and opened again
// unless the server takes none; a request that the stream did not take any more goes out on the next one. On a lane of depth 1
// that is also what becomes of one that met a stale connection, and Cancel ends the stream, which tells the server; on a deeper
// one the others go on. Metadata belongs to a stream, so requests with other headers need another: at depth 1 it is opened when
// they come, deeper they are refused while others are in flight.
//
// Each response has the time at which its message was read. LastByte is the last response's: the message that only says that
// nothing more comes ends the request, and is none. BytesReceived has it.
//
// # Stamps
//
// Of calls with a connection of their own see wire/netlane and wire/http2. Elsewhere SendStart is taken before the stream is
// opened, SendEnd when its writer is given the message: the socket write comes a few µs later. FirstByte and LastByte are both
// the moment at which the whole reply message has been read: grpc-go tells no earlier one without a cost in every call.
// BytesSent and BytesReceived count messages with their 5-byte prefix; HTTP/2 heads are compressed and unseen. A compressed
// reply counts as what it holds.
package grpcraw
