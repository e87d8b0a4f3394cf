// Package grpcraw drives grpc-go with messages that are encoded already: a pass-through codec, client connections that
// are ready before the clock starts, unary lanes and lanes that are bidirectional streams.
//
// It is not: a place that knows messages or models, a layer that retries (a stale connection aside), a load balancer.
//
// What grpc-go does by itself and a benchmark must not have is off: proxies from the environment, service configs,
// retries, idleness, deadlines. Flow-control windows are static (1 MiB a stream, 16 MiB a connection), which spares the
// pings that grpc-go otherwise sizes them with. Its transparent retry stays: it repeats what no server has seen.
//
// # Connections
//
// Over gRPC a slot of its own is a stream of its own, not a connection of its own: streams of up to 64 lanes share one
// connection unless Options.Connections says otherwise, and so does the plan's per_slot (its default). A connection for
// every lane was measured beside it: 1.7 to 1.9 times the client's CPU for each call of 1 KiB at 16 and 64 lanes, as
// nothing is left to batch in one write or read, and so a client that is full at half the rate. It can be had:
// connections: N opens N connections, which the lanes share evenly, so N = number of slots is one for each.
// backends.PerRequest dials for every request. Calls beyond the server's limit of concurrent streams on a connection
// (often 100) wait in Send, and that wait is in the latency.
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
// SendStart is taken before the stream is opened, SendEnd when grpc-go's writer has the message: the socket write comes
// a few µs later. FirstByte and LastByte are both the moment at which the whole reply message has been read: grpc-go
// tells no earlier one without a cost in every call. BytesSent and BytesReceived count messages with their 5-byte
// prefix; HTTP/2 heads are compressed and unseen. A compressed reply counts as what it holds.
package grpcraw
