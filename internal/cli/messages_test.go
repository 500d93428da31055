package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/planted"
)

// A value is planted in every field of the definition, in both versions. The golden files list the fields whose values
// the messages quote: names, types, references, quantities, and texts in place of a number. The messages about all
// other fields, such as settings, variables and options, do not contain the value. The operator writes the same
// messages into conditions and events.
func TestMessagesQuoteOnlyKnownFields(t *testing.T) {
	values := planted.Values(t)
	var manifests strings.Builder
	for _, value := range values {
		text, err := yaml.Marshal(value.Object)
		testutil.Must(t, err)
		manifests.WriteString("---\n" + string(text))
	}
	file := filepath.Join(t.TempDir(), "stacks.yaml")
	testutil.Must(t, os.WriteFile(file, []byte(manifests.String()), 0o600))
	got := run(t, "", "validate", "-f", file)
	golden.Dir(t, "testdata/quoted", planted.Shown(values, got.out+got.err))
}
