//go:build inprocess

package inprocess

import (
	"reflect"

	"github.com/sluice-bench/sluice/backends/wire/native"
)

// find looks up all functions by the names of the fields of functions.
func (l *library) find() error {
	v := reflect.ValueOf(&l.functions).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		at, err := l.native.Function("TRITONSERVER_" + f.Name)
		if err != nil {
			return err
		}
		v.Field(i).SetUint(uint64(at))
	}
	var err error
	if l.malloc, err = l.native.Function("malloc"); err != nil {
		return err
	}
	if l.free, err = l.native.Function("free"); err != nil {
		return err
	}
	native.Bind(&l.setDouble, l.InferenceRequestSetDoubleParameter)
	return nil
}
