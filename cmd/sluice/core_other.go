//go:build !unix

package main

// disableCoreFile does nothing where there are no core files.
func disableCoreFile() {}
