// Package cuda shares GPU memory with a server on the same machine through NVIDIA's driver, which
// is loaded when a plan needs it.
//
// It is not: a binding of CUDA, a way to run anything on a GPU, part of the plain binary: the build
// tag cuda includes it, for the reason given in package native.
//
// Each region of memory is an allocation of its own, because its handle refers to a whole
// allocation. All writes to the GPU are complete when a call returns: another process may read them
// at once.
package cuda
