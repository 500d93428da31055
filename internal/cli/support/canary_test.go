package support_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/support"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/planted"
)

var planting = regexp.MustCompile(`CANARY\w\d`)

// The file has the values that an attacker planted in a stack and in its ConfigMap.
func TestPlantedValues(t *testing.T) {
	data := golden.Read(t, "testdata/canary.yaml")
	if count := len(planting.FindAll(data, -1)); count < 38 {
		t.Fatalf("only %d values are planted", count)
	}
	m := &support.Material{}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		m.Objects = append(m.Objects, parse(t, document))
	}
	m.Logs = []support.Log{{Namespace: "a", Pod: "p", Container: "c", Text: "mount -o username=u,pass=CANARYD8xxx failed"}}
	for name, text := range read(t, archive(t, m)) {
		for _, found := range planting.FindAllString(text, -1) {
			t.Errorf("%s contains %s", name, found)
		}
	}
}

// A value is planted in every field of the definition, in both versions. The archive shows only the fields that the
// golden files list. A new field is in the archive only if it is added to the table of package redact, and to these
// files.
func TestEveryField(t *testing.T) {
	values := planted.Values(t)
	if len(values) < 700 {
		t.Fatalf("only %d values are planted", len(values))
	}
	m := &support.Material{}
	for _, value := range values {
		m.Objects = append(m.Objects, value.Object)
	}
	var text strings.Builder
	for _, file := range read(t, archive(t, m)) {
		text.WriteString(file)
	}
	golden.Dir(t, "testdata/shown", planted.Shown(values, text.String()))
}
