package stub

import (
	"reflect"
	"time"
)

// Exceeds reports whether a value needs more than `most` bytes of memory, with everything that it refers to. The size
// of the encoded form is not sufficient: a container of 45 bytes needs 400 bytes of memory, and tenants can write as
// many containers as fit into an object.
func Exceeds(value any, most int) bool {
	left := most
	spend(reflect.ValueOf(value), &left)
	return left < 0
}

// entryBytes is the part of a map's memory that does not depend on the types of its keys and values.
const entryBytes = 16

var timeType = reflect.TypeFor[time.Time]()

// spend subtracts the memory to which a value refers, until nothing is left. The caller counts the value itself.
func spend(value reflect.Value, left *int) {
	if *left < 0 || !value.IsValid() {
		return
	}
	switch value.Kind() {
	case reflect.String:
		*left -= value.Len()
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			*left -= int(value.Elem().Type().Size())
			spend(value.Elem(), left)
		}
	case reflect.Struct:
		if value.Type() == timeType { // refers to a shared description of the time zone
			return
		}
		for _, field := range value.Fields() {
			spend(field, left)
		}
	case reflect.Slice:
		*left -= value.Cap() * int(value.Type().Elem().Size())
		if value.Type().Elem().Kind() != reflect.Uint8 {
			for i := 0; i < value.Len() && *left >= 0; i++ {
				spend(value.Index(i), left)
			}
		}
	case reflect.Map:
		each := int(value.Type().Key().Size()+value.Type().Elem().Size()) + entryBytes
		for entries := value.MapRange(); *left >= 0 && entries.Next(); *left -= each {
			spend(entries.Key(), left)
			spend(entries.Value(), left)
		}
	default: // needs no memory but its own
	}
}
