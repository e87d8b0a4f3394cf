// Package grpcraw makes gRPC calls with already encoded messages: unary lanes, lanes that are
// bidirectional streams, and single calls, on connections that are ready before the clock starts.
//
// It is not: a place that knows messages or models, a layer that retries (a stale connection
// aside), a load balancer.
//
// Unary calls with a dedicated connection use this project's own HTTP/2 (wire/http2 on
// wire/netlane). All others use grpc-go: calls that share connections, streams, single calls.
// Features of grpc-go that would distort a benchmark are off: proxies from the environment, service
// configs, retries, idleness, deadlines. Flow-control windows are static (1 MiB per stream, 16 MiB
// per connection), which avoids the pings with which grpc-go otherwise sizes them. Its transparent
// retry stays on: it repeats only what no server has processed.
//
// # Connections
//
//	Options.Connections    unary lanes                              streams
//	0                      one each                                 one for up to 64 of them
//	N                      N, shared evenly, by grpc-go             N, shared evenly
//	PerRequest             a new one for each request               one each
//
// Compared with a bare grpc-go loop (BenchmarkUnary: 1 KiB each way, the server another process on
// the same two cores) a call on a dedicated connection costs the client 0.61, 0.93 and 0.86 times
// the CPU at 1, 16 and 64 lanes and allocates nothing, one on a shared connection 1.00, 1.09 and
// 1.13 times and as much as the bare loop: 80 allocations.
//
// # Limits of the server
//
// A connection carries at most as many lanes as the server allows concurrent streams
// (MAX_CONCURRENT_STREAMS): further streams get other connections, and set-up fails if the plan
// fixes the number of connections. If the server lowers its limit later, a stream that is reopened
// moves to another connection, at the end of the connect timeout if the limit falls meanwhile; one
// that no connection can take ends its request as dial; and a unary call on a shared connection
// waits in Send, which is in its latency.
// A call with more header bytes than the server allows (MAX_HEADER_LIST_SIZE) is not sent: class
// write.
//
// # Streams
//
// A stream lane (Pool.Streams) keeps one stream open and carries up to its depth of requests on it;
// replies name their request by id. Streams share connections as unary calls do. When a stream
// ends, each request on it is answered once and the stream is opened again unless the server
// accepts no streams; a request that the stream did not take any more goes out on the next one. On
// a lane of depth 1 a request that met a stale connection does too, and Cancel ends the stream,
// which tells the server; on a deeper lane the other requests go on. Metadata belongs to a stream,
// so requests with other headers need another stream: at depth 1 it is opened when they come, on
// deeper lanes they are refused while others are in flight.
//
// Each response has the time at which its message was read. LastByte is the time of the last
// response: a message that only marks the end completes the request and is not a response.
// BytesReceived includes it.
//
// # Stamps
//
// For calls with a dedicated connection see wire/netlane and wire/http2. For all others SendStart
// is taken before the stream is opened, SendEnd when the transport's writer has the message: the
// socket write follows a few µs later. FirstByte and LastByte are both the time at which the whole
// reply message was read: grpc-go reports no earlier time without a cost in every call. BytesSent
// and BytesReceived count messages with their 5-byte prefix; HTTP/2 headers are compressed and not
// visible. A compressed reply counts its decoded bytes.
package grpcraw
