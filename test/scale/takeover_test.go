package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/process"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/upgrade"
)

// older is a cluster with stacks of the previous operator. upgrade installs this operator with its webhooks in the
// cluster.
type older struct {
	*process.Cluster

	audit  string
	stacks int
	// configured is the number of stacks with their own configuration.
	configured int
	// children counts the previous operator's objects for the stacks, by kind.
	children map[string]int
	// templates contains the pod templates, keyed by the names of the stacks.
	templates map[string]corev1.PodTemplateSpec
}

// leaveStacks starts a cluster with this number of stacks and the objects that the previous operator created for them.
// The stacks cycle through the recorded shapes.
func leaveStacks(t testing.TB, stacks int) *older {
	t.Helper()
	c := &older{
		audit: filepath.Join(t.TempDir(), "audit.log"), stacks: stacks, children: map[string]int{},
		templates: map[string]corev1.PodTemplateSpec{},
	}
	c.Cluster = process.StartCluster(t, testutil.Options{
		AuditLog: c.audit, APIServerFlags: map[string]string{"service-cluster-ip-range": "10.96.0.0/16"},
	})
	c.InstallOlder(t)
	testutil.Must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: inStacks}}))
	shapes, err := upgrade.Shapes()
	testutil.Must(t, err)
	made := make([]map[string]string, stacks)
	each(t, stacks, func(i int) error {
		var err error
		made[i], err = upgrade.Leave(t.Context(), c, shapes[i%len(shapes)], inStacks, stackName(i))
		return err
	})
	for i, children := range made {
		for kind := range children {
			c.children[kind]++
		}
		if shapes[i%len(shapes)] == "user-config" {
			c.configured++
		}
	}
	deployments := &appsv1.DeploymentList{}
	testutil.Must(t, c.List(t.Context(), deployments))
	for i := range deployments.Items {
		c.templates[deployments.Items[i].Name] = deployments.Items[i].Spec.Template
	}
	return c
}

// upgrade installs and starts this operator, and waits until both versions can be listed. It enables network policies,
// because the stacks of the previous operator have network policies.
func (c *older) upgrade(t testing.TB) {
	t.Helper()
	c.Install(t)
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: names.OperatorNamespace, Name: names.OperatorConfigMap},
		Data:       map[string]string{"featureFlags": "enableNetworkPolicy: {enabled: true}"},
	}
	testutil.Must(t, c.Create(t.Context(), config))
	o := c.StartOperator(t)
	testutil.Within(t, process.Patience, o.Ready)
	c.Publish(t, o)
	for _, version := range versions {
		testutil.Within(t, process.Patience, func() error {
			_, _, err := c.list(t.Context(), version, pageSize)
			return err
		})
	}
}

// pageSize is the page size that kubectl uses.
const pageSize = 500

var versions = []string{v1alpha1.GroupVersion.Version, v1alpha2.GroupVersion.Version}

// list reads every stack in a version, in pages of a given size, and returns the duration and the number of stacks. If
// the size is zero, it reads all stacks in one call.
func (c *older) list(ctx context.Context, version string, page int) (time.Duration, int, error) {
	api, err := kubernetes.NewForConfig(c.Plane.Config)
	if err != nil {
		return 0, 0, err
	}
	found, next, started := 0, "", time.Now()
	for {
		request := api.RESTClient().Get().AbsPath("/apis", v1alpha2.GroupVersion.Group, version, "llamastackdistributions")
		body, err := request.Param("limit", strconv.Itoa(page)).Param("continue", next).DoRaw(ctx)
		if err != nil {
			return 0, 0, err
		}
		n, token, err := itemsOf(body)
		if found, next = found+n, token; err != nil || next == "" {
			return time.Since(started), found, err
		}
	}
}

// handsOver waits until the operator has taken over every stack and has stored it in v1alpha2. It polls rarely, so that
// it adds little load to the API server.
func (c *older) handsOver(t testing.TB, patience time.Duration) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), scrape, patience, true, func(ctx context.Context) (bool, error) {
		last = c.handedOver(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("not within %v: %v", patience, last)
	}
}

// handedOver returns an error until all stacks are taken over.
func (c *older) handedOver(ctx context.Context) error {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: names.CustomResourceDefinition}, definition); err != nil {
		return err
	}
	if !slices.Equal(definition.Status.StoredVersions, versions[1:]) {
		return fmt.Errorf("stacks are stored in %q", definition.Status.StoredVersions)
	}
	list := &v1alpha2.LlamaStackDistributionList{}
	if err := c.List(ctx, list); err != nil {
		return err
	}
	done := 0
	for i := range list.Items {
		if meta.IsStatusConditionTrue(list.Items[i].Status.Conditions, v1alpha2.ConditionDeploymentUpdated) {
			done++
		}
	}
	if done != c.stacks {
		return fmt.Errorf("%d of %d stacks are taken over", done, c.stacks)
	}
	return nil
}

// writes counts the operator's writes for the stacks since a position in the audit log, by verb and resource. It counts
// a rejected write a second time, with its status code. It does not count writes to the operator's own objects, unless
// the API server rejects them.
func (c *older) writes(t testing.TB, after int64) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, one := range readCalls(t, c.audit, after, names.UserAgent+"/"+process.Version) {
		what := one.Verb + " " + strings.TrimSuffix(one.ObjectRef.Resource+"/"+one.ObjectRef.Subresource, "/")
		if one.Verb != "get" && one.ObjectRef.Namespace == inStacks {
			counts[what]++
		}
		if one.ResponseStatus.Code >= http.StatusBadRequest && one.Verb != "get" {
			counts[what+" "+strconv.Itoa(one.ResponseStatus.Code)]++
		}
	}
	return counts
}

func (c *older) audited(t testing.TB) int64 {
	t.Helper()
	info, err := os.Stat(c.audit)
	testutil.Must(t, err)
	return info.Size()
}

// rests waits until the operator is idle.
func (c *older) rests(t testing.TB) {
	t.Helper()
	place, since := c.audited(t), time.Now()
	testutil.Within(t, patience, func() error {
		if len(readCalls(t, c.audit, place, names.UserAgent+"/"+process.Version)) > 0 {
			place, since = c.audited(t), time.Now()
		}
		if time.Since(since) < quiet {
			return fmt.Errorf("the operator still makes calls")
		}
		return nil
	})
}

// itemsOf counts the items of a list, and returns the token for the next page.
func itemsOf(body []byte) (items int, next string, err error) {
	var list struct {
		Metadata struct{ Continue string }
		Items    []json.RawMessage
	}
	err = json.Unmarshal(body, &list)
	return len(list.Items), list.Metadata.Continue, err
}

// needed returns the writes that the change of ownership requires. For each child, there is one write of the managed
// fields and one apply. Each stack is written once in its new version and once with its status, and one event reports
// the changes that the next rollout of the stack contains. The ConfigMap with the CA bundle does not change until then.
// For a stack with an autoscaler, one more write transfers the replicas of the Deployment to the autoscaler, the
// operator creates a budget, and a second event reports data that the replicas do not share. For a stack with a volume,
// a second event reports that the data may not be on the volume, because only the image determines the home directory.
// For a stack with its own configuration, a second event reports that a variable in it is not set.
func (c *older) needed() map[string]int {
	autoscaled := c.children["HorizontalPodAutoscaler"]
	return map[string]int{
		"patch llamastackdistributions":        c.stacks,
		"patch llamastackdistributions/status": c.stacks,
		"create events":                        c.stacks + autoscaled + c.children["PersistentVolumeClaim"] + c.configured,
		"patch deployments":                    2*c.children["Deployment"] + autoscaled,
		"patch services":                       2 * c.children["Service"],
		"patch serviceaccounts":                2 * c.children["ServiceAccount"],
		"patch networkpolicies":                2 * c.children["NetworkPolicy"],
		"patch persistentvolumeclaims":         2 * c.children["PersistentVolumeClaim"],
		"patch horizontalpodautoscalers":       2 * autoscaled,
		"patch poddisruptionbudgets":           autoscaled,
	}
}

// When the operator takes over the stacks of the previous operator, it makes only the writes that the change of
// ownership requires.
func TestTakeOver(t *testing.T) {
	c := leaveStacks(t, 4)
	place := c.audited(t)
	c.upgrade(t)
	c.handsOver(t, process.Patience)
	testutil.Within(t, process.Patience, func() error { // the operator writes the events last
		if diff := cmp.Diff(c.needed(), c.writes(t, place)); diff != "" {
			return fmt.Errorf("writes (-want +got):\n%s", diff)
		}
		return nil
	})
	c.rests(t)
	if diff := cmp.Diff(c.needed(), c.writes(t, place)); diff != "" {
		t.Errorf("writes when idle (-want +got):\n%s", diff)
	}
	c.keepsPods(t)
}

// keepsPods checks that each Deployment has the template of the previous operator, and that each event about an update
// of a Deployment names the image in this template.
func (c *older) keepsPods(t *testing.T) {
	t.Helper()
	deployments := &appsv1.DeploymentList{}
	testutil.Must(t, c.List(t.Context(), deployments, client.InNamespace(inStacks)))
	for i := range deployments.Items {
		now := &deployments.Items[i]
		if diff := cmp.Diff(c.templates[now.Name], now.Spec.Template); diff != "" {
			t.Errorf("the pod template of %q has changed (-before +now):\n%s", now.Name, diff)
		}
	}
	events := &eventsv1.EventList{}
	testutil.Must(t, c.List(t.Context(), events, client.InNamespace(inStacks)))
	for i := range events.Items {
		event := &events.Items[i]
		template, known := c.templates[event.Regarding.Name]
		if event.Reason != v1alpha2.EventDeploymentUpdated || !known {
			continue // an event of another object
		}
		if image := template.Spec.Containers[0].Image; !strings.Contains(event.Note, strconv.Quote(image)) {
			t.Errorf("the image of %q is still %q, and the event is: %s", event.Regarding.Name, image, event.Note)
		}
	}
}
