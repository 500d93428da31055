package controller_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
)

const (
	labelConfig  = "io.llamastack.config.base64"
	labelRelease = "io.llamastack.server.version"

	ownConfig = "version: 2\ndistro_name: own\napis: [inference]\nproviders:\n  inference:\n  - provider_id: openai\n    provider_type: remote::openai\n    config: {}\n"
)

// images is a registry on this machine that the operators of a bench may read.
type images struct {
	host     string
	requests atomic.Int64
	down     atomic.Bool
	// password is the password that the registry requires of the user robot. Nil means that it requires none.
	password atomic.Pointer[string]
}

func (b *bench) registry(t *testing.T) *images {
	t.Helper()
	r := serveImages(t)
	b.configure(t, operatorconfig.KeyRegistries, fmt.Sprintf("insecure: [%q]", r.host))
	return r
}

func serveImages(t *testing.T) *images {
	t.Helper()
	r := &images{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.requests.Add(1)
		password := r.password.Load()
		switch _, given, _ := request.BasicAuth(); {
		case r.down.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case password != nil && given != *password:
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			inner.ServeHTTP(w, request)
		}
	}))
	t.Cleanup(server.Close)
	r.host = strings.TrimPrefix(server.URL, "http://")
	return r
}

// push pushes an image with labels to the registry.
func (r *images) push(t *testing.T, repository string, labels map[string]string) (image, digest string) {
	t.Helper()
	built, err := mutate.Config(empty.Image, v1.Config{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(r.host+"/"+repository, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, built); err != nil {
		t.Fatal(err)
	}
	hash, err := built.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return r.host + "/" + repository, hash.String()
}

func withConfig(release string) map[string]string {
	labels := map[string]string{labelConfig: base64.StdEncoding.EncodeToString([]byte(ownConfig))}
	if release != "" {
		labels[labelRelease] = release
	}
	return labels
}

func (b *bench) labelled(t *testing.T) (*images, *operator) {
	t.Helper()
	b.configured = true
	operator := b.start(t, "labels")
	return b.registry(t), operator
}

// TestLabels checks that a stack of an image with labels runs the configuration that was read, at its digest, whatever
// happens to the registry or the tag.
func TestLabels(t *testing.T) {
	b := newBench(t)
	r, operator := b.labelled(t)
	image, digest := r.push(t, "team/own:prod", withConfig("0.7.3"))
	b.create(t, b.stack(t, "my", fmt.Sprintf(`{distribution: {image: %q}, resources: {models: [gpt-4o-mini]}}`, image)))
	b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	eventually(t, func() error {
		var deployment appsv1.Deployment
		if err := b.Get(t.Context(), b.key("my"), &deployment); err != nil {
			return err
		}
		if got := deployment.Spec.Template.Spec.Containers[0].Image; got != image+"@"+digest {
			return fmt.Errorf("image %q, want it pinned to %q", got, digest)
		}
		return nil
	})
	before := len(b.settled(t, "labels"))
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	got := stack.Status.ResolvedDistribution
	if got.Image != image || got.Digest != digest || got.ConfigSource != v1alpha2.ConfigSourceOCILabel ||
		got.ServerRelease != "0.7" || got.ServerReleaseFrom != "image-label" {
		t.Errorf("status %+v", got)
	}

	// The registry is gone and the operator restarts: no write.
	r.down.Store(true)
	asked := r.requests.Load()
	operator.stop(t)
	b.start(t, "labels")
	if calls := b.settled(t, "labels")[before:]; hasWrites(calls) {
		t.Errorf("a restart without the registry: %q", calls)
	}
	if r.requests.Load() != asked {
		t.Error("an image that was read is asked for again")
	}
	// A change of the spec uses the configuration that was read.
	eventually(t, func() error {
		b.get(t, "my", stack)
		stack.Spec.Resources.Models = append(stack.Spec.Resources.Models, stack.Spec.Resources.Models[0])
		if err := stack.Spec.Resources.Models[1].UnmarshalJSON([]byte(`"gpt-4.1"`)); err != nil {
			return err
		}
		return b.Update(t.Context(), stack)
	})
	eventually(t, func() error {
		var deployment appsv1.Deployment
		b.get(t, "my", &deployment)
		b.get(t, "my", stack)
		generated := stack.Status.ConfigGeneration
		if deployment.Spec.Template.Spec.Containers[0].Image != image+"@"+digest || generated == nil || generated.ResourceCount != 2 {
			return fmt.Errorf("image %q, configuration %+v", deployment.Spec.Template.Spec.Containers[0].Image, generated)
		}
		return nil
	})
}

// TestLabelsOfAnOverride checks that the configuration that was read for a known distribution stays when the registry,
// the status and the kept base are lost.
func TestLabelsOfAnOverride(t *testing.T) {
	b := newBench(t)
	r, operator := b.labelled(t)
	image, digest := r.push(t, "team/starter:0.7.1", withConfig("0.7.3"))
	b.configure(t, operatorconfig.KeyImageOverrides, "starter: "+image)
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [gpt-4o-mini]}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.settled(t, "labels")
	before, stack := &appsv1.Deployment{}, &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", before)
	if got := before.Spec.Template.Spec.Containers[0].Image; got != image+"@"+digest {
		t.Fatalf("image %q, want it pinned to %s", got, digest)
	}
	operator.stop(t)

	r.down.Store(true)
	b.get(t, "my", stack)
	patch := client.MergeFrom(stack.DeepCopy())
	stack.Status = v1alpha2.LlamaStackDistributionStatus{}
	if err := b.Status().Patch(t.Context(), stack, patch); err != nil {
		t.Fatal(err)
	}
	operator = b.start(t, "labels-2")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	for _, call := range writes(b.settled(t, "labels-2")) {
		if call != "patch llamastackdistributions status my" {
			t.Errorf("a start without registry and status wrote more than the status: %s", call)
		}
	}
	b.get(t, "my", stack)
	if got := stack.Status.ResolvedDistribution; got == nil || got.Digest != digest || got.ServerReleaseFrom != "image-label" ||
		got.ConfigSource != v1alpha2.ConfigSourceOCILabel {
		t.Errorf("status %+v", got)
	}
	operator.stop(t)

	// Without the base and the registry, the pods keep their configuration.
	base := configMap(baseOf(t, before), "", "")
	base.Namespace = b.namespace
	if err := b.Delete(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	operator = b.start(t, "labels-down")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonBaseConfigUnavailable)
	b.condition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonBaseConfigStale)
	b.settled(t, "labels-down")
	after := &appsv1.Deployment{}
	b.get(t, "my", after)
	if before.ResourceVersion != after.ResourceVersion {
		t.Error("the Deployment was written to")
	}
	operator.stop(t)

	// The running image is read again, even if its tag has moved.
	r.down.Store(false)
	r.push(t, "team/starter:0.7.1", map[string]string{labelConfig: "bm90aGluZw==", labelRelease: "9.0"})
	b.start(t, "labels-3")
	eventually(t, func() error { return b.Get(t.Context(), b.key(base.Name), &corev1.ConfigMap{}) })
	b.get(t, "my", after)
	if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" {
		t.Errorf("the template changed (-before +after):\n%s", diff)
	}
}

// baseOf returns the name of the ConfigMap that keeps the base of a Deployment.
func baseOf(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	known, ok := rollout.Parse(deployment.Annotations)
	if !ok || known.BaseConfigMap == "" {
		t.Fatalf("no base in the record %+v", known)
	}
	return known.BaseConfigMap
}

func hasWrites(calls []string) bool {
	for _, call := range calls {
		if strings.HasPrefix(call, "patch ") || strings.HasPrefix(call, "create ") || strings.HasPrefix(call, "delete ") || strings.HasPrefix(call, "update ") {
			return true
		}
	}
	return false
}

// TestUnreadableImages checks what a stack waits for when its image cannot be read, and that it continues when the
// image can be read.
func TestUnreadableImages(t *testing.T) {
	b := newBench(t)
	r, _ := b.labelled(t)
	image, _ := r.push(t, "team/own:0.7.3", withConfig(""))
	bare, _ := r.push(t, "team/bare:0.7.3", nil)
	wrong, _ := r.push(t, "team/wrong:0.7.3", map[string]string{labelConfig: "***"})
	old, _ := r.push(t, "team/old:0.7.3", map[string]string{labelConfig: base64.StdEncoding.EncodeToString([]byte("version: 3\n"))})
	versioned, _ := r.push(t, "team/versioned:0.7.3", map[string]string{labelConfig: withConfig("")[labelConfig], "io.llamastack.config.version": "4"})
	r.down.Store(true)
	b.create(t, b.stack(t, "waits", fmt.Sprintf(`{distribution: {image: %q}, disabled: [safety]}`, image)))
	got := b.condition(t, "waits", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonBaseConfigUnavailable)
	eventually(t, func() error {
		got = b.condition(t, "waits", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonBaseConfigUnavailable)
		if got.Status != metav1.ConditionUnknown || !strings.Contains(got.Message, "503") || !strings.Contains(got.Message, "spec.baseConfig") {
			return fmt.Errorf("condition %+v", got)
		}
		return nil
	})
	if ready := b.condition(t, "waits", v1alpha2.ConditionReady, v1alpha2.ReasonBaseConfigUnavailable); ready.Message != "ConfigGenerated is Unknown; its message has the details" {
		t.Errorf("ready %+v", ready)
	}
	// This stack needs nothing of the configuration.
	b.create(t, b.stack(t, "runs", fmt.Sprintf(`{distribution: {image: %q}}`, image)))
	b.condition(t, "runs", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonDistributionDefaultUsed)
	// A distribution that the operator knows starts with the operator's own copy of the base.
	b.configure(t, operatorconfig.KeyImageOverrides, "starter: "+image)
	b.create(t, b.stack(t, "named", `{distribution: {name: starter}, disabled: [batches]}`))
	b.condition(t, "named", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	b.unreadTold(t, "named", image, "503", `configuration of "starter" in release 0.7`, "imagePullSecrets")

	r.down.Store(false)
	// A change of the configuration causes another attempt at once instead of after half a minute.
	b.configure(t, operatorconfig.KeyRegistries, fmt.Sprintf("{insecure: [%q], allow: [%q]}", r.host, r.host))
	b.condition(t, "waits", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)

	for _, tc := range []struct{ name, image, reason, message string }{
		{"bare", bare, v1alpha2.ReasonMissingConfigLabels, "Distribution image " + bare + " missing config labels. Add labels using `crane mutate` or use `overrideConfig` " +
			"to provide configuration manually. See docs/configuration.md for details."},
		{"wrong", wrong, v1alpha2.ReasonBaseConfigUnavailable, `label "io.llamastack.config.base64": is not base64`},
		{"old", old, v1alpha2.ReasonUnsupportedConfigVersion, "Unsupported config.yaml version 3. Supported versions: 1, 2"},
		{"versioned", versioned, v1alpha2.ReasonUnsupportedConfigVersion, "Unsupported config.yaml version 4. Supported versions: 1, 2"},
		{"none", r.host + "/team/none:1", v1alpha2.ReasonBaseConfigUnavailable, "NAME_UNKNOWN"},
		{"elsewhere", "elsewhere.example.com/a/b:1", v1alpha2.ReasonBaseConfigUnavailable, "is not in registries.allow"},
	} {
		b.create(t, b.stack(t, tc.name, fmt.Sprintf(`{distribution: {image: %q}, disabled: [safety]}`, tc.image)))
		eventually(t, func() error {
			got := b.condition(t, tc.name, v1alpha2.ConditionConfigGenerated, tc.reason)
			if got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, tc.message) {
				return fmt.Errorf("%s: condition %+v, want %q", tc.name, got, tc.message)
			}
			return nil
		})
	}
}

// TestUnreadableImageOfAnOlderStack checks that a stack of v1alpha1 that only sets workers still runs without the
// configuration of its image. When the registry answers again, no pods restart until the next change of the spec.
func TestUnreadableImageOfAnOlderStack(t *testing.T) {
	b := newBench(t)
	r, operator := b.labelled(t)
	image, _ := r.push(t, "team/own:0.7.3", withConfig(""))
	r.down.Store(true)
	older := b.stack(t, "my", fmt.Sprintf(`{distribution: {image: %q}, workload: {workers: 2}}`, image))
	older.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	b.create(t, older)
	b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonDistributionDefaultUsed)
	b.unreadTold(t, "my", image, "503", "spec.server.workers has no effect")
	b.settled(t, "labels")
	before := &appsv1.Deployment{}
	b.get(t, "my", before)
	operator.stop(t)

	r.down.Store(false)
	asked := r.requests.Load()
	b.start(t, "labels-back")
	b.settled(t, "labels-back")
	b.untouched(t, before)
	if now := r.requests.Load(); now != asked {
		t.Errorf("%d requests to the registry", now-asked)
	}
	b.change(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Workload.Workers = ptr.To[int32](3) })
	b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
}

// unreadTold checks that there is one event about an image that could not be read, with the given parts.
func (b *bench) unreadTold(t *testing.T, name string, parts ...string) {
	t.Helper()
	eventually(t, func() error {
		var notes []string
		for _, event := range b.events(t) {
			if event.Reason == v1alpha2.EventImageLabelsUnreadable && event.Regarding.Name == name {
				notes = append(notes, event.Type+" "+event.Note)
			}
		}
		if len(notes) != 1 || !strings.HasPrefix(notes[0], "Warning ") {
			return fmt.Errorf("events %q, want one warning", notes)
		}
		for _, part := range parts {
			if !strings.Contains(notes[0], part) {
				return fmt.Errorf("event %q, want %q in it", notes[0], part)
			}
		}
		return nil
	})
}

// TestReadLabelsOff checks that no image is read, and that a stack that needs a base reports that.
func TestReadLabelsOff(t *testing.T) {
	b := newBench(t)
	r, _ := b.labelled(t)
	image, _ := r.push(t, "team/own:0.7.3", withConfig(""))
	b.configure(t, operatorconfig.KeyRegistries, fmt.Sprintf("{insecure: [%q], readLabels: false}", r.host))
	asked := r.requests.Load()
	b.create(t, b.stack(t, "my", fmt.Sprintf(`{distribution: {image: %q}, disabled: [safety]}`, image)))
	got := b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonBaseConfigRequired)
	if !strings.Contains(got.Message, "spec.baseConfig") || r.requests.Load() != asked {
		t.Errorf("%d requests, condition %+v", r.requests.Load()-asked, got)
	}
	b.configure(t, operatorconfig.KeyRegistries, fmt.Sprintf("insecure: [%q]", r.host))
	b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
}

// TestPullSecrets checks that a stack with the pull Secret, directly or through its ServiceAccount, can read a private
// repository, and that no other stack can, whatever was read before.
func TestPullSecrets(t *testing.T) {
	b := newBench(t)
	r, _ := b.labelled(t)
	image, _ := r.push(t, "team/closed:0.7.3", withConfig(""))
	password := "s3cret-pull"
	r.password.Store(&password)
	auth := base64.StdEncoding.EncodeToString([]byte("robot:" + password))
	b.create(t,
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
			StringData: map[string]string{corev1.DockerConfigJsonKey: fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, r.host, auth)},
		},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "old"}, Type: corev1.SecretTypeDockercfg,
			StringData: map[string]string{corev1.DockerConfigKey: fmt.Sprintf(`{%q:{"auth":%q}}`, r.host, auth)},
		},
		&corev1.ServiceAccount{
			ObjectMeta:       metav1.ObjectMeta{Namespace: b.namespace, Name: "puller"},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
		})
	spec := `{distribution: {image: %q}, disabled: [safety], workload: {overrides: %s}}`
	b.create(t,
		b.stack(t, "secret", fmt.Sprintf(spec, image, "{imagePullSecrets: [{name: pull}]}")),
		b.stack(t, "old", fmt.Sprintf(spec, image, "{imagePullSecrets: [{name: old}]}")),
		b.stack(t, "account", fmt.Sprintf(spec, image, "{serviceAccountName: puller}")))
	b.condition(t, "secret", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	b.condition(t, "old", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	b.condition(t, "account", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	b.create(t, b.stack(t, "stranger", fmt.Sprintf(spec, image, "{imagePullSecrets: [{name: another}]}")))
	eventually(t, func() error {
		got := b.condition(t, "stranger", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonBaseConfigUnavailable)
		if got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, "401") || strings.Contains(got.Message, password) {
			return fmt.Errorf("condition %+v", got)
		}
		return nil
	})
}
