package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// refuseEmpty refuses flags without a value, as a shell makes them of a variable that is not set: --baseline "$MAIN" would
// be a run that compares with nothing.
func refuseEmpty(c *cobra.Command) error {
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0
		}
		if empty && err == nil {
			err = fmt.Errorf("--%s is empty: give it a value, or leave the flag out", f.Name)
		}
	})
	return err
}
