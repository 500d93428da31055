package controller

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestStorageCondition(t *testing.T) {
	const growing = `{spec: {resources: {requests: {storage: 30Gi}}}, status: {phase: Bound, capacity: {storage: 20Gi}}}`
	for content, want := range map[string]string{
		`{status: {phase: Bound}}`:   "True StorageReady Storage is ready",
		growing:                      "True StorageReady Storage is ready and is growing from 20Gi to 30Gi",
		`{status: {phase: Pending}}`: "True StorageReady Storage is waiting for its first pod",
		`{}`:                         "True StorageReady Storage is waiting for its first pod",
		`{status: {phase: Lost}}`:    `False StorageLost The volume of PersistentVolumeClaim "my-pvc" no longer exists; restore the volume from a backup, or delete the PersistentVolumeClaim to get a new one with an empty volume`,
	} {
		claim := &unstructured.Unstructured{}
		testutil.Must(t, yaml.Unmarshal([]byte(content), &claim.Object))
		claim.SetName("my-pvc")
		got := storageCondition(claim)
		if text := fmt.Sprintf("%s %s %s", got.Status, got.Reason, got.Message); text != want {
			t.Errorf("%s: %s, want %s", content, text, want)
		}
	}
}

// TestVolumeOfAStack checks that a volume does not change if the spec requests an impossible change, and that the other
// changes take effect, because only the last step returns the failure.
func TestVolumeOfAStack(t *testing.T) {
	const remedy = "; the storage class and the access modes of an existing volume cannot change, so the pods keep the volume; restore the earlier value, or move the data to a stack with another name"
	shrinks := &status.Failure{
		Condition: v1alpha2.ConditionStorageReady, Reason: v1alpha2.ReasonStorageShrinkRefused, Retry: status.OnObjectChange,
		Message: `spec.workload.storage.size: 5Gi is less than the 20Gi that PersistentVolumeClaim "my-pvc" requests, and a volume cannot shrink. ` +
			`The pods keep their volume; set 20Gi or more, or remove size`,
	}
	changed := func(message string) *status.Failure {
		return &status.Failure{
			Condition: v1alpha2.ConditionStorageReady, Reason: v1alpha2.ReasonStorageChangeRefused, Retry: status.OnObjectChange,
			Message: message + remedy,
		}
	}
	for name, tc := range map[string]volumeCase{
		"same size":                       {storage: "size: 20Gi", capacity: "20Gi", class: "slow", wanted: "20Gi"},
		"larger size":                     {storage: "size: 30Gi", capacity: "20Gi", class: "slow", wanted: "30Gi"},
		"larger size without a volume":    {storage: "size: 30Gi", class: "slow", wanted: "30Gi"},
		"no size in the spec":             {storage: "", capacity: "20Gi", class: "slow", wanted: "20Gi"},
		"larger size within the capacity": {storage: "size: 40Gi", capacity: "50Gi", class: "slow", wanted: "20Gi"},
		"larger size than the capacity":   {storage: "size: 60Gi", capacity: "50Gi", class: "slow", wanted: "60Gi"},
		"smaller size": {
			storage: "size: 5Gi", capacity: "20Gi", class: "slow", wanted: "20Gi",
			failure: shrinks,
		},
		"smaller size without a volume": {storage: "size: 5Gi", class: "slow", wanted: "20Gi", failure: shrinks},
		"reverted expansion":            {storage: "size: 10Gi", capacity: "5Gi", class: "slow", wanted: "10Gi"},
		"same storage class": {
			storage: "size: 20Gi, storageClassName: slow", capacity: "20Gi", class: "slow",
			wanted: "20Gi", has: "slow",
		},
		"other storage class":                               {storage: "size: 20Gi, storageClassName: fast", capacity: "20Gi", class: "slow", wanted: "20Gi", has: "slow", failure: changed(`spec.workload.storage.storageClassName: PersistentVolumeClaim "my-pvc" has storage class "slow", not "fast"`)},
		"empty storage class":                               {storage: `size: 20Gi, storageClassName: ""`, capacity: "20Gi", class: "slow", wanted: "20Gi", has: "slow", failure: changed(`spec.workload.storage.storageClassName: PersistentVolumeClaim "my-pvc" has storage class "slow", not ""`)},
		"storage class for a claim without a storage class": {storage: "size: 20Gi, storageClassName: fast", wanted: "20Gi", has: "fast"},
		"other access modes":                                {storage: "size: 20Gi, accessModes: [ReadWriteMany]", capacity: "20Gi", class: "slow", wanted: "20Gi", failure: changed(`spec.workload.storage.accessModes: the list of access modes of PersistentVolumeClaim "my-pvc" is ReadWriteOnce, not ReadWriteMany`)},
		"two impossible changes":                            {storage: "size: 5Gi, accessModes: [ReadWriteMany]", capacity: "20Gi", class: "slow", wanted: "20Gi", failure: changed(`spec.workload.storage.accessModes: the list of access modes of PersistentVolumeClaim "my-pvc" is ReadWriteOnce, not ReadWriteMany`)},
	} {
		t.Run(name, func(t *testing.T) { checkVolumeOf(t, tc) })
	}
}

// volumeCase is a row of TestVolumeOfAStack.
type volumeCase struct {
	storage  string
	capacity string // capacity of a volume whose claim requests 20Gi; empty means that there is no volume yet
	class    string // storage class of the claim; empty means that the claim has no storage class
	wanted   string // requested size after the steps
	has      string // storage class that the operator applies; empty means that the operator does not apply one
	failure  *status.Failure
}

// checkVolumeOf runs the steps for a stack with a PersistentVolumeClaim, and compares the claim that would be applied
// with the test case.
func checkVolumeOf(t *testing.T, tc volumeCase) {
	own := testutil.NewStack(t, `{distribution: {name: starter}, workload: {storage: {`+tc.storage+`}}}`)
	live := &corev1.PersistentVolumeClaim{
		ObjectMeta: testutil.ChildMeta(own, "my-pvc"),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: resource.MustParse("20Gi"),
			}},
		},
	}
	if tc.class != "" {
		live.Spec.StorageClassName = &tc.class
	}
	if tc.capacity != "" {
		live.Spec.VolumeName, live.Status.Phase = "volume", corev1.ClaimBound
		live.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(tc.capacity)}
	}
	s, err := newFixture(t, live).runSteps(t, own, "ownership")
	testutil.Must(t, err)
	checkFailure(t, checkVolume(s.owned.volumeTrouble), tc.failure)
	claim, wanted, _, err := s.owned.volumeClaim()
	testutil.Must(t, err)
	if wanted.Cmp(resource.MustParse(tc.wanted)) != 0 {
		t.Errorf("requests %s, want %s", wanted.String(), tc.wanted)
	}
	if class, _, _ := unstructured.NestedString(claim.Wanted.Object, "spec", "storageClassName"); class != tc.has {
		t.Errorf("class %q, want %q", class, tc.has)
	}
	if modes, _, _ := unstructured.NestedStringSlice(claim.Wanted.Object, "spec", "accessModes"); !slices.Equal(modes,
		[]string{"ReadWriteOnce"}) {
		t.Errorf("access modes %v", modes)
	}
	strategy, _, _ := unstructured.NestedString(s.owned.desired[s.owned.deployment()].Wanted.Object, "spec", "strategy",
		"type")
	if strategy != "Recreate" {
		t.Errorf("the strategy is %s, but only one pod at a time can use the volume", strategy)
	}
}
