package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/upgrade"
)

// surveyed is the JSON output of the inventory.
type surveyed struct {
	Stacks []struct {
		Namespace, Name, Version, NextRollOut          string
		Adopted, NotAdopted, Refused, ByHand, Warnings []string
	}
	Unseen []string
}

func readSurvey(t *testing.T, got result) surveyed {
	t.Helper()
	var found surveyed
	if err := json.Unmarshal([]byte(got.out), &found); err != nil {
		t.Fatalf("%v\n%s%s", err, got.out, got.err)
	}
	return found
}

// The test checks the inventory of a cluster with the previous operator, and then with this operator, for a user who
// has only read access.
func TestSurvey(t *testing.T) {
	c := upgrade.Start(t)
	c.Install(t, upgrade.Older(t))
	for _, name := range []string{"team-a", "team-b"} {
		testutil.Must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	plain := makeStack(t, c, "team-a", "plain", `{server: {distribution: {name: starter}}}`)
	makeStack(t, c, "team-a", "refused", `{server: {distribution: {name: unheard-of}}}`)
	makeStack(t, c, "team-b", "elsewhere", `{server: {distribution: {name: starter}, userConfig: {configMapName: mine, configMapNamespace: team-a}}}`)
	testutil.Must(t, c.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "mine", Namespace: "team-a"},
		Data:       map[string]string{"config.yaml": "version: 2"},
	}))
	makeStack(t, c, "team-b", "unreadable", `{server: {distribution: {name: starter}, userConfig: {configMapName: ours, configMapNamespace: team-a}}}`)
	testutil.Must(t, c.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "ours", Namespace: "team-b"},
		Data:       map[string]string{"config.yaml": "version: 2"},
	}))
	deployment := oldDeployment(plain)
	testutil.Must(t, c.Create(t.Context(), deployment, client.FieldOwner("manager")))
	testutil.Must(t, c.Create(t.Context(), oldDeployment(makeStack(t, c, "team-b", "taken", `{server: {distribution: {name: starter}}}`, "no.such/uid"))))
	t.Setenv("KUBECONFIG", readOnly(t, c, true))

	got := run(t, "", "migrate", "--dry-run", "-o", "json")
	got.exits(t, 1)
	contains(t, got.err, "the operator rejects 3 of 5 stacks in their present form")
	before := readSurvey(t, got)
	one := before.Stacks[0]
	if one.Version != "v1alpha1" || one.Name != "plain" || len(one.Adopted) > 0 || !cmp.Equal(one.NotAdopted, []string{"Deployment/plain"}) {
		t.Errorf("changes reported for the stack of the previous operator: %+v", one)
	}
	contains(t, one.NextRollOut, "keep their earlier template")
	contains(t, strings.Join(one.ByHand, "\n"), `spec.server.containerSpec.image: unknown field; did you mean spec.server.distribution.image?; the most recently applied manifest contains this field`)
	contains(t, strings.Join(before.Stacks[1].Refused, "\n"), `spec.server.distribution.name: unknown distribution "unheard-of"`)
	contains(t, strings.Join(before.Stacks[2].Refused, "\n"), `the stack cannot use ConfigMap "mine" in namespace "team-a"; add the namespace `)
	contains(t, strings.Join(before.Stacks[3].ByHand, "\n"), `the controller of Deployment/taken is LlamaStackDistribution "taken"; delete Deployment/taken`)

	contains(t, strings.Join(before.Stacks[4].Warnings, "\n"), `the operator therefore uses the ConfigMap with the same name in namespace "team-b"`)

	c.Install(t, upgrade.Today(t, upgrade.StartWebhook(t)))
	testutil.Must(t, c.Delete(t.Context(), deployment))
	adopted := oldDeployment(plain)
	adopted.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	testutil.Must(t, c.Patch(t.Context(), adopted, client.Apply, client.FieldOwner(names.FieldManager), client.ForceOwnership)) //nolint:staticcheck // an object of a Go type is applied in one line
	got = run(t, "", "migrate", "--dry-run", "-n", "team-a")
	contains(t, got.out, "team-a     plain    v1alpha1  yes      -             1")
	contains(t, got.out, "team-a/refused\nrefused  ")
	if strings.Contains(got.out, "team-b") {
		t.Errorf("the output contains a stack of another namespace:\n%s", got.out)
	}
}

// For a user without read access to some objects, the report lists the objects that were not read.
func TestSurveyWithoutRights(t *testing.T) {
	c := upgrade.Start(t)
	c.Install(t, upgrade.Older(t))
	const count = 101 // more than one page
	for i := range count {
		makeStack(t, c, "default", fmt.Sprintf("stack-%03d", i), `{server: {distribution: {name: starter}, userConfig: {configMapName: mine}}}`)
	}
	testutil.Must(t, c.Create(t.Context(), oldDeployment(makeStack(t, c, "default", "alone", `{server: {distribution: {name: starter}}}`))))
	t.Setenv("KUBECONFIG", readOnly(t, c, false))

	got := run(t, "", "migrate", "--dry-run", "-o", "json")
	got.exits(t, 0)
	contains(t, got.err, "warning: not read: the operator's ConfigMap llama-stack-operator-config: you cannot list ConfigMaps in all namespaces")
	contains(t, got.err, `warning: not read: you cannot get configmaps in namespace "default"`)
	contains(t, got.err, `warning: not read: Deployment objects in namespace "default": this command cannot show `+
		"whether this operator has adopted them; ask an administrator for permission to get them")
	if found := readSurvey(t, got); len(found.Stacks) != count+1 || len(found.Unseen) < 3 {
		t.Errorf("%d stacks, not read: %q", len(found.Stacks), found.Unseen)
	}
	nobody := impersonating(t, c, "nobody")
	got = run(t, "", "migrate", "--dry-run", "--kubeconfig", nobody)
	got.exits(t, 1, "without any right")
	contains(t, got.err, "list the stacks: you cannot list llamastackdistributions.llamastack.io in all namespaces")
	contains(t, got.err, "set --namespace to a namespace whose stacks you can list")
}

func TestSurveyOfFiles(t *testing.T) {
	got := run(t, older(`{server: {distribution: {name: starter}, containerSpec: {image: a}}}`)+"---\n"+stack(`{distribution: {name: startr}}`),
		"migrate", "--dry-run", "-f", "-")
	got.exits(t, 1)
	contains(t, got.out,
		"NAMESPACE  NAME  VERSION   ADOPTED  NEXT ROLLOUT  BY HAND\ndefault    demo  v1alpha1  -        -             1\ndefault    demo  v1alpha2  -        -             1\n",
		"by hand  spec.server.containerSpec.image: unknown field",
		`refused  spec.distribution.name: unknown distribution "startr"`)
	contains(t, run(t, older(`{server: {distribution: {image: "quay.io/team/llama:latest"}}}`), "migrate", "--dry-run", "-f", "-").out,
		`by hand  spec.server.distribution.image: "quay.io/team/llama:latest": this command cannot determine the release of the server in this image`)
	contains(t, run(t, older(`{server: {distribution: {name: starter}, storage: {}}}`), "migrate", "--dry-run", "-f", "-").out,
		"by hand  spec.server.storage: the server stores the data of batches")
	contains(t, run(t, stack(simple), "migrate", "--dry-run", "-f", "-", "-o", "xml").err, `--output: "xml" is not a valid value; use one of table, json, yaml`)
	contains(t, run(t, "", "migrate", "--storage", "v1alpha1", "-n", "a").err, "none of the others can be")
}

// makeStack creates a stack whose last-applied annotation contains a field that the API no longer has.
func makeStack(
	t *testing.T, c *upgrade.Cluster, namespace, name, spec string, uid ...string,
) *unstructured.Unstructured {
	t.Helper()
	object := onlyStack(t, strings.Replace(older(spec), "name: demo", "name: "+name, 1))
	object.SetNamespace(namespace)
	object.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: `{"apiVersion":"llamastack.io/v1alpha1","kind":"LlamaStackDistribution",` +
		`"spec":{"server":{"distribution":{"name":"starter"},"containerSpec":{"image":"a"}}}}`})
	testutil.Must(t, c.Create(t.Context(), object))
	if len(uid) > 0 {
		object.SetUID("00000000-0000-0000-0000-000000000001") // the UID of a deleted stack with the same name
	}
	return object
}

// oldDeployment returns a Deployment that the previous operator created for a stack.
func oldDeployment(stack *unstructured.Unstructured) *appsv1.Deployment {
	labels := map[string]string{"app": "llama-stack", "app.kubernetes.io/instance": stack.GetName()}
	controls := true
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: stack.GetName(), Namespace: stack.GetNamespace(),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: stack.GetAPIVersion(), Kind: stack.GetKind(), Name: stack.GetName(), UID: stack.GetUID(),
				Controller: &controls,
			}},
		},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "llama-stack", Image: "docker.io/llamastack/distribution-starter:latest"}}},
			},
		},
	}
}

// readOnly returns the kubeconfig of a user who can list stacks and, if `others` is set, can read all other objects in
// the inventory.
func readOnly(t *testing.T, c *upgrade.Cluster, others bool) string {
	t.Helper()
	rules := []rbacv1.PolicyRule{{
		APIGroups: []string{"llamastack.io"}, Resources: []string{"llamastackdistributions"},
		Verbs: []string{"get", "list"},
	}}
	if others {
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: []string{
				"", "apps", "autoscaling", "policy", "networking.k8s.io", "gateway.networking.k8s.io",
				"route.openshift.io",
			},
			Resources: []string{"*"}, Verbs: []string{"get", "list"},
		})
	}
	reader := metav1.ObjectMeta{Name: "reader"}
	testutil.Must(t, c.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: reader, Rules: rules}))
	testutil.Must(t, c.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reader"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "reader"}},
	}))
	file := impersonating(t, c, "reader")
	t.Setenv("KUBECONFIG", file)
	testutil.Eventually(t, "the rights to be in force", func() (bool, error) {
		return !strings.Contains(run(t, "", "migrate", "--dry-run", "-n", "default").err, "list the stacks"), nil
	})
	return file
}

// impersonating returns the kubeconfig of an administrator who impersonates a user.
func impersonating(t *testing.T, c *upgrade.Cluster, user string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	testutil.Must(t, err)
	for _, who := range config.AuthInfos {
		who.Impersonate = user
	}
	file := filepath.Join(t.TempDir(), user)
	testutil.Must(t, clientcmd.WriteToFile(*config, file))
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	return file
}
