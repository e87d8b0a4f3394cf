package protow

import (
	"cmp"
	"reflect"
	"strconv"
)

// Decode reads a message, as far as possible, into the struct that into points to; the error is the
// first one. The tag `proto` holds the number of a field, which is a string, a bool, an int64, a
// struct, a pointer to one, or a slice of these; fields of another type are ignored. It uses
// reflection: for control calls.
func Decode(message []byte, into any) error {
	return decode(message, reflect.ValueOf(into).Elem())
}

func decode(message []byte, into reflect.Value) (err error) {
	fields := map[string]reflect.Value{}
	for i := range into.NumField() {
		fields[into.Type().Field(i).Tag.Get("proto")] = into.Field(i)
	}
	w := Walk(message)
	for w.Next() {
		if field, ok := fields[strconv.Itoa(int(w.Field))]; ok {
			err = cmp.Or(err, decodeField(&w, field))
		}
	}
	return cmp.Or(err, w.Err())
}

// decodeField reads the field at w; one of another type is ignored.
func decodeField(w *Walker, into reflect.Value) (err error) {
	if list, ok := into.Addr().Interface().(*[]int64); ok {
		*list, err = w.Ints(*list)
		return err
	}
	bytes := w.Type == BytesType
	switch kind := into.Kind(); {
	case kind == reflect.Int64 && !bytes:
		into.SetInt(int64(w.Varint))
	case kind == reflect.Bool && !bytes:
		into.SetBool(w.Varint != 0)
	case !bytes:
	case kind == reflect.String:
		into.SetString(string(w.Bytes))
	case kind == reflect.Struct:
		return decode(w.Bytes, into)
	case kind == reflect.Pointer:
		if into.IsNil() {
			into.Set(reflect.New(into.Type().Elem()))
		}
		return decodeField(w, into.Elem())
	case kind == reflect.Slice:
		one := reflect.New(into.Type().Elem()).Elem()
		err = decodeField(w, one)
		into.Set(reflect.Append(into, one))
	}
	return err
}
