package stub

import (
	"math/bits"
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

const (
	// mapBytes is the memory of an empty map.
	mapBytes = 48
	// group is the smallest number of entries for which a map has memory. Each has a control byte.
	group = 8
)

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
		each := int(value.Type().Key().Size()+value.Type().Elem().Size()) + 1
		*left -= places(value.Len()) * each
		if !value.IsNil() {
			*left -= mapBytes
		}
		for entries := value.MapRange(); *left >= 0 && entries.Next(); {
			spend(entries.Key(), left)
			spend(entries.Value(), left)
		}
	default: // needs no memory but its own
	}
}

// places returns the number of entries for which a map with n entries has memory. A larger map is at most 7/8 full, and
// doubles.
func places(n int) int {
	if n <= group {
		return min(n, 1) * group
	}
	return 1 << bits.Len(uint(n*group/(group-1)))
}
