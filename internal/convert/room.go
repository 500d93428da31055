package convert

import (
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// maxAnnotations is how many bytes an API server lets the keys and values of an
// object's annotations have together. It refuses a converted object with more,
// and with it every list that the object is in.
const maxAnnotations = validation.TotalAnnotationSizeLimitB

// write adds the annotation, if there is anything to say. What has no room is
// left out.
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

// makeRoom takes the longest annotation away that conversion did not write, as
// long as there are too many bytes. An object has that many when its annotations
// were as long as they may be before a mark was added: who fills them up must not
// break the lists of everybody else.
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

// exceeds reports whether the annotations and more bytes are too many. How long
// they are once they are read is only looked at where that matters.
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

// annotationBytes is how long the text of an annotation is.
func annotationBytes(v value) int {
	text, _ := v.text()
	return len(text)
}
