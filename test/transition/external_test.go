package transition_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// In a strict namespace, the API server accepts pods that install external providers, and these pods have the same
// quality of service as pods without external providers. The namespace enforces the restricted Pod Security Standard.
// It has a quota that requires limits, and a LimitRange whose bounds are the resources of the server.
func TestExternalProvidersAreAccepted(t *testing.T) {
	c := start(t)
	for name, tc := range map[string]struct {
		limits corev1.LimitRangeItem
		class  corev1.PodQOSClass
	}{
		"external": {corev1.LimitRangeItem{
			Default:              amounts("2", "2Gi"),
			Min:                  amounts("1", "256Mi"),
			Max:                  amounts("2", "2Gi"),
			MaxLimitRequestRatio: amounts("2", "2"),
		}, corev1.PodQOSBurstable},
		"external-openshift": {corev1.LimitRangeItem{
			Min:                  amounts("500m", "256Mi"),
			Max:                  amounts("500m", "512Mi"),
			MaxLimitRequestRatio: amounts("1", "1"),
		}, corev1.PodQOSGuaranteed},
	} {
		t.Run(name, func(t *testing.T) {
			strict(t, c, name, tc.limits)
			pod := podOf(t, deployments(t)[name], name)
			testutil.Must(t, c.Create(t.Context(), pod))
			if pod.Status.QOSClass != tc.class {
				t.Errorf("the pod has the class %s, want %s", pod.Status.QOSClass, tc.class)
			}
			for _, container := range pod.Spec.InitContainers {
				if !strings.HasPrefix(container.Name, "external-provider") {
					continue
				}
				if len(container.Resources.Limits) != 2 || len(container.Resources.Requests) != 2 {
					t.Errorf("container %s has the resources %v", container.Name, container.Resources)
				}
			}

			little := podOf(t, deployments(t)[name], name)
			little.Spec.InitContainers[0].Resources.Requests = amounts("100m", "64Mi")
			if err := c.Create(t.Context(), little); !apierrors.IsForbidden(err) {
				t.Errorf("the namespace accepts a pod that requests less than the server: %v", err)
			}
		})
	}
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
}

// strict creates a namespace with a Pod Security Standard, a LimitRange and a quota.
func strict(t *testing.T, c client.Client, name string, item corev1.LimitRangeItem) {
	t.Helper()
	item.Type = corev1.LimitTypeContainer
	hard := corev1.ResourceList{
		corev1.ResourceLimitsCPU: resource.MustParse("100"), corev1.ResourceLimitsMemory: resource.MustParse("100Gi"),
		corev1.ResourceRequestsCPU: resource.MustParse("100"), corev1.ResourceRequestsMemory: resource.MustParse("100Gi"),
	}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "quota", Namespace: name},
		Spec:       corev1.ResourceQuotaSpec{Hard: hard},
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:   name,
			Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
		}},
		&corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Name: "limits", Namespace: name},
			Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}},
		},
		quota,
	} {
		testutil.Must(t, c.Create(t.Context(), object))
	}
	// The test sets the status as the controller for quotas does.
	quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{}}
	for key := range hard {
		quota.Status.Used[key] = resource.MustParse("0")
	}
	testutil.Must(t, c.Status().Update(t.Context(), quota))
}

// podOf returns a pod of the Deployment as a ReplicaSet would create it.
func podOf(t *testing.T, deployment *unstructured.Unstructured, namespace string) *corev1.Pod {
	t.Helper()
	template, _, err := unstructured.NestedMap(deployment.Object, "spec", "template")
	testutil.Must(t, err)
	data, err := json.Marshal(template)
	testutil.Must(t, err)
	pod := &corev1.Pod{}
	testutil.Must(t, json.Unmarshal(data, pod))
	pod.GenerateName, pod.Namespace = "my-", namespace
	return pod
}
