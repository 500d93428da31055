package convert_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// Conversions reuse the memory of earlier conversions. A value of one object must not appear in another object.
func TestConversionsShareNothing(t *testing.T) {
	data := golden.Read(t, "../../operator/webhook/conversion/testdata/v1alpha2.json")
	plain := []byte(`{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution","metadata":{},"spec":{},"status":{}}`)
	inputs := [][]byte{data, plain, bytes.ReplaceAll(data, []byte("vllm"), []byte("vvvv"))}
	want := make([]string, len(inputs))
	for i, input := range inputs {
		want[i] = converted(t, input)
	}
	if strings.Contains(want[1], "vllm") || strings.Contains(want[2], "vllm") {
		t.Fatalf("a value of the first object is in the second or the third:\n%s\n%s", want[1], want[2])
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 300 {
				if i %= len(inputs); converted(t, inputs[i]) != want[i] {
					t.Errorf("object %d differs from the result of a separate conversion", i)
				}
			}
		})
	}
	all.Wait()
}

func converted(t *testing.T, object []byte) string {
	t.Helper()
	result, err := convert.AppendJSON(nil, object, convert.Versions[0])
	if err != nil {
		t.Error(err)
	}
	return string(result)
}
