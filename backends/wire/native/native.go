// Package native calls the functions of C libraries that are loaded when a plan needs them, without cgo.
//
// It is not: a binding of any library, a place for C's types, part of the plain binary: with it a program is no longer
// statically linked, so it is only there with one of the build tags inprocess and cuda.
package native
