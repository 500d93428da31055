package volume_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/volume"
)

// TestChange checks which changes of spec.workload.storage are errors (E) and warnings (W), by the last part of
// their field, if the claim is as given, or is not known.
func TestChange(t *testing.T) {
	const claim = `{metadata: {name: my-pvc}, spec: {accessModes: [ReadWriteOnce], storageClassName: slow, volumeName: v, ` +
		`resources: {requests: {storage: 20Gi}}}, status: {capacity: {storage: 20Gi}}}`
	resizing := strings.Replace(claim, "capacity: {storage: 20Gi}", "capacity: {storage: 5Gi}", 1)
	pending := strings.Replace(claim, "storageClassName: slow, volumeName: v, ", "", 1)
	const slow, fast = "{storageClassName: slow}", "{storageClassName: fast}"
	for name, tc := range map[string]struct {
		claim, before, after string
		failed               string // the message of the condition StorageReady of the earlier stack
		want                 string
	}{
		"the same volume":                {claim, "{}", "{}", "", ""},
		"a smaller size":                 {claim, "{size: 20Gi}", "{size: 5Gi}", "", "E size"},
		"a smaller size than the claim":  {claim, "{size: 5Gi}", "{size: 6Gi}", "", "E size"},
		"a size that was refused before": {claim, "{size: 5Gi}", "{size: 5Gi, retainOnDelete: true}", "", "W size"},
		"a larger size":                  {claim, "{size: 20Gi}", "{size: 30Gi}", "", ""},
		"a reverted expansion":           {resizing, "{size: 20Gi}", "{size: 10Gi}", "", ""},
		"no size":                        {claim, "{size: 20Gi}", "{}", "", ""},
		"another class and other modes":  {claim, "{}", "{storageClassName: fast, accessModes: [ReadWriteMany]}", "", "E storageClassName, E accessModes"},
		"the modes in another order":     {strings.Replace(claim, "[ReadWriteOnce]", "[ReadOnlyMany, ReadWriteOnce]", 1), "{}", "{accessModes: [ReadWriteOnce, ReadOnlyMany]}", "", ""},
		"the class of the claim":         {claim, "{}", "{storageClassName: slow}", "", ""},
		"a class for a pending claim":    {pending, "{}", "{storageClassName: slow}", "", ""},
		"no volume any longer":           {claim, "{size: 20Gi}", "", "", ""},
		"a volume for an earlier claim":  {claim, "", "{size: 5Gi}", "", "E size"},

		"unknown: a smaller size":                {"", "{size: 20Gi}", "{size: 5Gi}", "", "E size"},
		"unknown: smaller than the default size": {"", "{}", "{size: 5Gi}", "", "E size"},
		"unknown: a larger size":                 {"", "{}", "{size: 20Gi}", "", ""},
		"unknown: another class":                 {"", slow, fast, "", "E storageClassName"},
		"unknown: an empty class":                {"", slow, `{storageClassName: ""}`, "", "E storageClassName"},
		"unknown: a class after the default":     {"", "{}", "{storageClassName: fast}", "", "W storageClassName"},
		"unknown: the default class":             {"", "{storageClassName: slow}", "{}", "", ""},
		"unknown: other modes":                   {"", "{}", "{accessModes: [ReadWriteMany]}", "", "E accessModes"},
		"unknown: the default modes":             {"", "{accessModes: [ReadWriteOnce]}", "{}", "", ""},
		"unknown: a new volume":                  {"", "", "{size: 5Gi}", "", ""},
		"unknown: a claim unlike the spec":       {"", "{size: 30Gi}", "{size: 20Gi}", "it cannot grow", "W storage"},
	} {
		t.Run(name, func(t *testing.T) {
			var known *corev1.PersistentVolumeClaim
			if tc.claim != "" {
				known = &corev1.PersistentVolumeClaim{}
				if err := yaml.UnmarshalStrict([]byte(tc.claim), known); err != nil {
					t.Fatal(err)
				}
			}
			before, after := withVolume(t, tc.before), withVolume(t, tc.after)
			if tc.failed != "" {
				before.Status.Conditions = []metav1.Condition{{
					Type: v1alpha2.ConditionStorageReady, Status: metav1.ConditionFalse, Message: tc.failed,
				}}
			}
			errs, warnings := volume.Change(before, after, known)
			var got []string
			for _, list := range []struct {
				letter string
				texts  []string
			}{{"E ", errs}, {"W ", warnings}} {
				for _, text := range list.texts {
					path, _, _ := strings.Cut(text, ": ")
					got = append(got, list.letter+path[strings.LastIndex(path, ".")+1:])
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%q %q", diff, errs, warnings)
			}
		})
	}
}

// withVolume returns a stack with the given spec.workload.storage. Empty means no volume.
func withVolume(t *testing.T, storage string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Name: "my", Namespace: "team"}}
	if storage == "" {
		return stack
	}
	stack.Spec.Workload = &v1alpha2.WorkloadSpec{Storage: &v1alpha2.VolumeSpec{}}
	if err := yaml.UnmarshalStrict([]byte(storage), stack.Spec.Workload.Storage); err != nil {
		t.Fatal(err)
	}
	return stack
}
