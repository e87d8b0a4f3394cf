// Package native calls functions of C libraries that are loaded when a plan needs them, without
// cgo.
//
// It is not: a binding of any library, a place for C's types, part of the plain binary: a program
// that uses it is no longer statically linked, so only the build tags inprocess and cuda include
// it.
package native
