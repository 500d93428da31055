package convert

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// maxAnnotations is the API server's limit for the total bytes of the keys and values of an object's annotations. The
// API server rejects a converted object whose annotations exceed the limit, and every list that contains such an
// object.
const maxAnnotations = validation.TotalAnnotationSizeLimitB

// write adds the annotation unless it is empty. If the list of losses is not complete, or the annotations exceed the
// limit, write omits all losses. In every case, write then calls makeRoom.
func (l losses) write(content tree, complete bool) {
	if !complete {
		l.Lost, l.Omitted = nil, true
	}
	if l.Born != "" || len(l.Lost) > 0 || l.Omitted {
		written := marshal(l)
		if len(l.Lost) > 0 && exceeds(content, len(names.AnnotationConversionData)+len(written)) {
			written = marshal(losses{Born: l.Born, Omitted: true})
		}
		setAt(content, annotationPath(names.AnnotationConversionData), string(written))
	}
	makeRoom(content)
}

// makeRoom removes annotations that conversion did not write, the longest first, until the annotations no longer exceed
// the limit. An object exceeds the limit if its annotations reached the limit before conversion added an annotation.
// Such an object must not break other users' list requests. Any pod can send an object with half a million annotations
// to the webhook, so makeRoom looks at each once.
func makeRoom(content tree) {
	if !exceeds(content, 0) {
		return
	}
	given := fields(content[annotations])
	size, lengths := 0, make(map[string]int, len(given))
	for key, v := range given {
		lengths[key] = len(text(v))
		size += len(key) + lengths[key]
	}
	removable := slices.DeleteFunc(slices.Collect(maps.Keys(given)), func(key string) bool {
		return key == names.AnnotationCompat || key == names.AnnotationConversionData
	})
	slices.SortFunc(removable, func(a, b string) int { return cmp.Or(lengths[b]-lengths[a], cmp.Compare(a, b)) })
	for _, key := range removable {
		if size <= maxAnnotations {
			return
		}
		size -= len(key) + lengths[key]
		delete(given, key)
	}
}

// exceeds reports whether the annotations plus the given number of bytes exceed the limit. It decodes the annotations
// only if their encoded length exceeds the limit.
func exceeds(content tree, more int) bool {
	atMost, exact := more, more
	given := fields(content[annotations])
	for key, v := range given {
		if raw, ok := v.(jsontext.Value); ok {
			atMost += len(key) + len(raw)
		} else {
			atMost += len(key) + len(text(v))
		}
	}
	if atMost <= maxAnnotations {
		return false
	}
	for key, v := range given {
		exact += len(key) + len(text(v))
	}
	return exact > maxAnnotations
}
