package convert

import (
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// maxAnnotations is the API server's limit for the total bytes of the keys and values of an object's annotations. The
// API server rejects a converted object whose annotations exceed the limit, and every list that contains such an
// object.
const maxAnnotations = validation.TotalAnnotationSizeLimitB

// write adds the annotation unless it is empty. If the list of losses is not complete, or the annotations exceed the
// limit, write omits all losses. In every case, write then calls makeRoom.
func (l losses) write(content *object, complete bool) {
	if !complete {
		l.Lost, l.Omitted = nil, true
	}
	if l.Born != "" || len(l.Lost) > 0 || l.Omitted {
		text := l.appendTo(make([]byte, 0, roomForLosses))
		if len(l.Lost) > 0 && exceeds(content, len(names.AnnotationConversionData)+len(text)) {
			text = losses{Born: l.Born, Omitted: true}.appendTo(nil)
		}
		content.setAt(annotationPath(names.AnnotationConversionData), rawText(text))
	}
	makeRoom(content)
}

// makeRoom removes annotations that conversion did not write, the longest first, until the annotations no longer exceed
// the limit. An object exceeds the limit if its annotations reached the limit before conversion added an annotation.
// Such an object must not break other users' list requests.
func makeRoom(content *object) {
	fields := content.objectAt(annotations)
	for exceeds(content, 0) {
		longest, most := "", -1
		for _, m := range fields.sorted() {
			ours := m.key == names.AnnotationCompat || m.key == names.AnnotationConversionData
			if n := annotationBytes(m.value); !ours && n > most {
				longest, most = m.key, n
			}
		}
		if most < 0 {
			return
		}
		fields.delete(longest)
	}
}

// exceeds reports whether the annotations plus the given number of bytes exceed the limit. It decodes the annotations
// only if their encoded length exceeds the limit.
func exceeds(content *object, more int) bool {
	atMost, exact := more, more
	fields := content.objectAt(annotations).sorted()
	for _, m := range fields {
		atMost += len(m.key) + len(m.value.raw)
	}
	if atMost <= maxAnnotations {
		return false
	}
	for _, m := range fields {
		exact += len(m.key) + annotationBytes(m.value)
	}
	return exact > maxAnnotations
}

// annotationBytes returns the length of an annotation's value.
func annotationBytes(v value) int {
	text, _ := v.text()
	return len(text)
}
