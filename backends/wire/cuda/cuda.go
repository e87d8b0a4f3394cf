// Package cuda is memory of a GPU that this process shares with a server on the same machine, through NVIDIA's driver, which
// is loaded when a plan needs it.
//
// It is not: a binding of CUDA, a way to run anything on a GPU, part of the plain binary: the build tag cuda brings it in,
// for the reason that package native gives.
//
// A region of memory is an allocation of its own, as its handle always stands for a whole one. Everything that reaches the
// GPU is there when a call returns: another process may read it at once.
package cuda
