package migrate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// TestManyDroppedFields checks that an annotation with as many unknown fields as the API server stores results in a
// short list in a short time. Each stack of a tenant can have one.
func TestManyDroppedFields(t *testing.T) {
	var applied strings.Builder
	applied.WriteString(`{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution","spec":{"a":1`)
	for i := range 20_000 {
		fmt.Fprintf(&applied, `,"a%x":1`, i)
	}
	applied.WriteString(`}}`)
	live := &unstructured.Unstructured{}
	live.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: applied.String()})
	begin := time.Now()
	texts := dropped(live)
	if taken := time.Since(begin); len(texts) != intent.MaxErrors+1 || taken > 5*time.Second {
		t.Errorf("%d texts after %s, the last: %.200s", len(texts), taken, texts[len(texts)-1])
	} else {
		t.Log(taken)
	}
}
