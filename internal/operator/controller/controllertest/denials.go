package controllertest

import (
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DenyWrites creates a policy that denies requests to create or update a resource in the test's namespace. It waits
// until the policy denies the creation of the object `probe`. It returns a function that deletes the binding of the
// policy, so that the policy no longer applies.
func (env *Environment) DenyWrites(t *testing.T, group, resource, why string, probe client.Object) (allow func()) {
	t.Helper()
	name := env.Namespace + "-" + resource
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{
							admissionregistrationv1.Create,
							admissionregistrationv1.Update,
						},
						Rule: admissionregistrationv1.Rule{
							APIGroups: []string{group}, APIVersions: []string{"v1"},
							Resources: []string{resource},
						},
					},
				}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: why}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			MatchResources: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{
					MatchLabels: map[string]string{corev1.LabelMetadataName: env.Namespace},
				},
			},
		},
	}
	for _, object := range []client.Object{policy, binding} {
		if err := env.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	probe.SetNamespace(env.Namespace)
	inForce := func() bool {
		err := env.Client.Create(t.Context(), probe.DeepCopyObject().(client.Object), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), why)
	}
	WaitUntil(t, func() error {
		if !inForce() {
			return fmt.Errorf("the policy does not deny writes yet")
		}
		return nil
	})
	return func() {
		t.Helper()
		if err := env.Client.Delete(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
	}
}
