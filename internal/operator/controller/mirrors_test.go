package controller_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// mirrorSet describes a kind of mirror set: the kind, its plural name, and the name of the list in its spec.
type mirrorSet struct {
	schema.GroupVersionKind

	plural, list string
}

var (
	mirrorGroup   = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
	policyGroup   = schema.GroupVersion{Group: "operator.openshift.io", Version: "v1alpha1"}
	digestMirrors = mirrorSet{mirrorGroup.WithKind("ImageDigestMirrorSet"), "imagedigestmirrorsets", "imageDigestMirrors"}
	tagMirrors    = mirrorSet{mirrorGroup.WithKind("ImageTagMirrorSet"), "imagetagmirrorsets", "imageTagMirrors"}
	sourcePolicy  = mirrorSet{
		policyGroup.WithKind("ImageContentSourcePolicy"), "imagecontentsourcepolicies", "repositoryDigestMirrors",
	}
)

// definition returns a CustomResourceDefinition of the kind.
func (m mirrorSet) definition() client.Object {
	return newDefinition(m.GroupVersionKind, m.plural, apiextensionsv1.ClusterScoped)
}

// create creates a mirror set with one source, as soon as the kind is served.
func (m mirrorSet) create(
	t *testing.T, env *controllertest.Environment, source, policy string, mirrors ...any,
) client.Object {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(m.GroupVersionKind)
	object.SetName(env.Namespace)
	entry := map[string]any{"source": source, "mirrors": mirrors}
	if policy != "" {
		entry["mirrorSourcePolicy"] = policy
	}
	testutil.Must(t, unstructured.SetNestedSlice(object.Object, []any{entry}, "spec", m.list))
	controllertest.WaitUntil(t, func() error { return env.Client.Create(t.Context(), object.DeepCopy()) })
	return object
}

// TestRunningMirrorSets checks that the operator, with only its own permissions, immediately uses mirror sets that are
// created after it starts, both for images with a tag and for images with a digest. A source that must not receive
// requests does not receive any, not even from an operator that has just started.
func TestRunningMirrorSets(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.AllNamespaces, env.OwnOperatorConfig = true, true
	first := env.StartOperator(t, "mirrors")
	mirror := env.StartRegistry(t)
	var asked atomic.Int64
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(served.Close)
	source := strings.TrimPrefix(served.URL, "http://")
	env.SetOperatorConfig(t, operatorconfig.KeyRegistries, fmt.Sprintf("insecure: [%q, %q]", mirror.Host, source))
	_, digest := mirror.PushImage(t, "mirror/team/own:prod", controllertest.ConfigLabels("0.7.3"))
	stack := func(name, image string) {
		t.Helper()
		env.Create(t, env.NewStack(t, name, fmt.Sprintf(`{distribution: {image: %q}, resources: {models: [gpt-4o-mini]}}`, image)))
	}
	stack("by-tag", source+"/team/own:prod")
	env.WaitForCondition(t, "by-tag", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonBaseConfigUnavailable)
	controllertest.WaitUntil(t, func() error { // the condition also has this reason while the image is being read
		if asked.Load() == 0 {
			return errors.New("the source received no request")
		}
		return nil
	})

	defer env.InstallDefinition(t, digestMirrors.definition())()
	defer env.InstallDefinition(t, tagMirrors.definition())()
	defer env.InstallDefinition(t, sourcePolicy.definition())()
	tagMirrors.create(t, env, source+"/team", "NeverContactSource", mirror.Host+"/none", mirror.Host+"/mirror/team")
	env.WaitForCondition(t, "by-tag", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	before := asked.Load()
	stack("by-digest", source+"/team/own@"+digest)
	controllertest.WaitUntil(t, func() error {
		condition := env.WaitForCondition(t, "by-digest", v1alpha2.ConditionConfigGenerated,
			v1alpha2.ReasonBaseConfigUnavailable)
		if !strings.Contains(condition.Message, "mirrorSourcePolicy NeverContactSource") {
			return fmt.Errorf("message %q", condition.Message)
		}
		return nil
	})
	digests := digestMirrors.create(t, env, source+"/team", "", mirror.Host+"/mirror/team")
	env.WaitForCondition(t, "by-digest", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	if now := asked.Load(); now != before {
		t.Errorf("the source received %d requests, want none", now-before)
	}

	first.Stop(t)
	env.Delete(t, digests)
	sourcePolicy.create(t, env, source+"/team", "", mirror.Host+"/mirror/team")
	stack("again", source+"/team/own:prod")
	stack("policy", source+"/team/own@"+digest)
	env.StartOperator(t, "mirrors-again")
	for _, name := range []string{"again", "policy"} {
		env.WaitForCondition(t, name, v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	}
	if now := asked.Load(); now != before {
		t.Errorf("after a restart the source received %d requests, want none", now-before)
	}
}
