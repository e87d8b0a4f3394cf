// Package kservepb is the generated form of kserve.proto: the messages and stubs of the KServe v2 gRPC
// protocol for the embedded server and its tests.
//
// It is not: for clients of Sluice, which walk the wire themselves, so that a mistake would have to be
// made twice.
package kservepb

// Needs protoc, protoc-gen-go and protoc-gen-go-grpc on PATH. The path given to protoc is the name that
// the file registers under, hence the run from the repository root.
//go:generate sh -c "cd ../../../.. && protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative backends/builtin/internal/kservepb/kserve.proto"
