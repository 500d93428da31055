package resolve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestCreateOperatorConfig checks that a new ConfigMap contains only its documentation, and that an existing ConfigMap
// does not change.
func TestCreateOperatorConfig(t *testing.T) {
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	reader := NewOperatorConfig(c, names.OperatorNamespace)
	for _, override := range []string{"", "rh-dev: quay.io/x/rh-dev:1"} {
		config, want := &corev1.ConfigMap{}, operatorconfig.Template()
		if override != "" {
			testutil.Must(t, c.Get(t.Context(), reader.Name(), config))
			config.Data[operatorconfig.KeyImageOverrides] = override
			testutil.Must(t, c.Update(t.Context(), config))
			want[operatorconfig.KeyImageOverrides] = override
		}
		testutil.Must(t, reader.Create(t.Context(), c))
		testutil.Must(t, c.Get(t.Context(), reader.Name(), config))
		if diff := cmp.Diff(want, config.Data); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
	}
}
