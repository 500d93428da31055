package faults_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// denials lists the faults in which the API server denies a write.
var denials = []fault{
	{name: "a quota is used up", fresh: true, strikes: []strike{quota}, spec: full},
	{name: "another policy denies the Deployment", strikes: []strike{policy}, spec: changed},
}

// quota creates a ResourceQuota that does not allow an additional Service.
func quota(t *testing.T, _ *theatre, s *stage) func() {
	t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: s.named("none"), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceServices: resource.MustParse("0")}},
	}
	s.create(t, quota)
	eventually(t, "the quota is active", func() error {
		if s.get(t, quota.Name, quota); len(quota.Status.Hard) == 0 {
			return errors.New("the quota has no status")
		}
		return nil
	})
	return func() {
		eventually(t, "the stack reports the quota", func() error { return s.reports(t, "exceeded quota: none") })
		testutil.Must(t, s.Delete(t.Context(), quota))
	}
}

// policy creates an admission policy that denies the creation and every update of a Deployment in the stack's
// namespace.
func policy(t *testing.T, _ *theatre, s *stage) func() {
	t.Helper()
	const why = "ask the platform team"
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: changesOfDeployments()}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: why}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: namespaceSelector(s.namespace)},
		},
	}
	s.create(t, policy, binding)
	s.refusesDeployment(t, why)
	return func() {
		eventually(t, "the stack reports the policy", func() error { return s.reports(t, why) })
		testutil.Must(t, s.Delete(t.Context(), binding))
	}
}

// refusesDeployment waits until the API server rejects changes to the Deployment for the given reason.
func (s *stage) refusesDeployment(t *testing.T, why string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	s.get(t, names.Deployment(stackName), deployment)
	eventually(t, "the API server rejects changes of the Deployment", func() error {
		err := s.Update(t.Context(), deployment.DeepCopy(), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), why) {
			return fmt.Errorf("the answer to an update is %w", err)
		}
		return nil
	})
}

// changesOfDeployments returns the rule that makes a policy or a webhook check Deployments.
func changesOfDeployments() admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{"apps"}, APIVersions: []string{"v1"},
			Resources: []string{"deployments"},
		},
	}
}

func namespaceSelector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}}
}
