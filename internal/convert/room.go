package convert

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// maxAnnotations is how many bytes an API server lets the keys and values of an
// object's annotations have together. It refuses a converted object with more,
// and with it every list that the object is in.
const maxAnnotations = validation.TotalAnnotationSizeLimitB

// write adds the annotation, if there is anything to say. What has no room is
// left out.
func (l losses) write(content map[string]any, complete bool) {
	if !complete {
		l.Lost, l.Omitted = nil, true
	}
	if l.Born != "" || len(l.Lost) > 0 || l.Omitted {
		text := string(marshal(l))
		if len(l.Lost) > 0 && exceeds(content, len(names.AnnotationConversionData)+len(text)) {
			text = string(marshal(losses{Born: l.Born, Omitted: true}))
		}
		set(content, annotationPath(names.AnnotationConversionData), text)
	}
	makeRoom(content)
}

// makeRoom takes the longest annotation away that conversion did not write, as
// long as there are too many bytes. An object has that many when its annotations
// were as long as they may be before a mark was added: who fills them up must not
// break the lists of everybody else.
func makeRoom(content map[string]any) {
	fields, _ := content[annotations].(map[string]any)
	for exceeds(content, 0) {
		longest, most := "", -1
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			ours := key == names.AnnotationCompat || key == names.AnnotationConversionData
			if n := annotationBytes(fields[key]); !ours && n > most {
				longest, most = key, n
			}
		}
		if most < 0 {
			return
		}
		delete(fields, longest)
	}
}

// exceeds reports whether the annotations and more bytes are too many. How long
// they are once they are read is only looked at where that matters.
func exceeds(content map[string]any, more int) bool {
	atMost, exact := more, more
	fields, _ := content[annotations].(map[string]any)
	for key, value := range fields {
		if raw, ok := value.(json.RawMessage); ok {
			atMost += len(key) + len(raw)
		} else {
			atMost += len(key) + annotationBytes(value)
		}
	}
	if atMost <= maxAnnotations {
		return false
	}
	for key, value := range fields {
		exact += len(key) + annotationBytes(value)
	}
	return exact > maxAnnotations
}

// annotationBytes is how long the text of an annotation is.
func annotationBytes(value any) int {
	text, _ := opened(value).(string)
	return len(text)
}
