// Package protow walks and writes protobuf messages without descriptors: enough for requests that are encoded once and
// replies that are looked at in place.
//
// It is not: a codec of messages, a validator of schemas.
package protow
