package result

import "reflect"

// Redact applies mask to every text of r that can contain words of the plan, the server or the
// system: the fields with the tag redact. Names, units, verdicts and numbers are not changed: they
// are the structure of the file, and a secret of one letter must not break it. Plan.Resolved and
// Plan.Vars are masked where they are made.
func (r *Result) Redact(mask func(string) string) { redact(reflect.ValueOf(r), mask, false) }

// Redact masks the texts of one node. It may be applied repeatedly.
func (n *Node) Redact(mask func(string) string) { redact(reflect.ValueOf(n), mask, false) }

// redact masks the tagged texts below v, which is one of them if tagged.
func redact(v reflect.Value, mask func(string) string, tagged bool) {
	switch v.Kind() {
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				redact(value, mask, field.Tag.Get("redact") != "")
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			redact(v.Elem(), mask, tagged)
		}
	case reflect.Slice:
		for i := range v.Len() {
			redact(v.Index(i), mask, tagged)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if tagged { // values of labels
				v.SetMapIndex(k, reflect.ValueOf(mask(v.MapIndex(k).String())))
			}
		}
	case reflect.String:
		if tagged {
			v.SetString(mask(v.String()))
		}
	}
}
