package controller_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestUserConfigOfAnotherNamespace checks that a v1alpha1 stack can have its userConfig in another namespace, but waits
// until an annotation on the ConfigMap allows the namespace of the stack.
func TestUserConfigOfAnotherNamespace(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.AllNamespaces = true
	shared := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shared-"}}
	testutil.Must(t, env.Client.Create(t.Context(), shared))
	config := controllertest.NewConfigMap("mine", names.OlderConfigFile, "version: 2\nimage_name: mine\nproviders: {}\n")
	config.Namespace = shared.Name
	testutil.Must(t, env.Client.Create(t.Context(), config))
	env.StartReconciler(t, "older")
	stack := env.NewStack(t, "my", `{distribution: {name: starter}, overrideConfig: {configMapName: mine}, networking: {port: 8321}}`)
	stack.Annotations = map[string]string{
		names.AnnotationCompat: names.CompatV1Alpha1, names.AnnotationUserConfigNamespace: shared.Name,
		names.AnnotationContainerName: "server",
	}
	env.Create(t, stack)
	env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonConfigMapNotFound)
	env.CheckNoChildren(t)

	config.Annotations = map[string]string{names.AnnotationAllowNamespaces: env.Namespace}
	env.Update(t, config)
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	deployment := env.GetDeployment(t)
	pod := deployment.Spec.Template.Spec
	if server := pod.Containers[0]; server.Name != "server" || len(server.Command) != 3 || server.SecurityContext != nil {
		t.Errorf("container %+v", server)
	}
	if pod.AutomountServiceAccountToken != nil || *pod.SecurityContext.FSGroup != 1001 ||
		pod.SecurityContext.RunAsNonRoot != nil {
		t.Errorf("token %v, security %+v", pod.AutomountServiceAccountToken, pod.SecurityContext)
	}
	copied := &corev1.ConfigMap{}
	env.Get(t, deployment.Spec.Template.Spec.Volumes[1].ConfigMap.Name, copied)
	if copied.Data[names.ConfigFile] != config.Data[names.OlderConfigFile] {
		t.Errorf("the copy contains %q", copied.Data)
	}
}

// TestInvalidServiceName checks that a v1alpha1 stack whose name Kubernetes does not accept for a Service still has its
// other objects, and that the status reports the missing Service.
func TestInvalidServiceName(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "no-service")
	for name, spec := range map[string]string{
		"3scale.stack": `{distribution: {name: starter}, networking: {port: 8321}, workload: {storage: {}}}`,
		"4scale.stack": `{distribution: {name: starter}, workload: {storage: {}}}`,
	} {
		stack := env.NewStack(t, name, spec)
		stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
		env.Create(t, stack)
		if stack.Spec.Networking == nil {
			env.WaitForCondition(t, name, v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
		} else {
			refused := env.WaitForCondition(t, name, v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateFailed)
			if want := `Service "3scale.stack-service"`; !strings.Contains(refused.Message, want) {
				t.Errorf("message %q, want it to contain %q", refused.Message, want)
			}
		}
		env.Get(t, name, &appsv1.Deployment{})
		env.Get(t, names.PersistentVolumeClaim(name), &corev1.PersistentVolumeClaim{})
		env.Get(t, names.ServiceAccount(name), &corev1.ServiceAccount{})
	}
}
