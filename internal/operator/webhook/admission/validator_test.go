package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	good = `distribution: {name: starter}`
	// The provider in `bad` does not exist.
	bad = `{distribution: {name: starter}, providers: {inference: {provider: vlm, endpoint: "http://vllm:8000/v1"}}}`
)

// The volume in `clashing` replaces the generated configuration.
const clashing = `{distribution: {name: starter}, disabled: [eval], workload: {overrides: {volumes: [{name: user-config, emptyDir: {}}]}}}`

// newValidator returns a Validator for an operator whose ConfigMap has these keys. With a writer, it makes dry runs.
func newValidator(t testing.TB, keys map[string]string, writer ...client.Writer) *Validator {
	t.Helper()
	config, errs := operatorconfig.Read(&corev1.ConfigMap{Data: keys}, operatorconfig.Config{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	options := Options{
		Config: func(context.Context) (operatorconfig.Config, error) { return config, nil },
		NamespaceLabels: func(_ context.Context, namespace string) (map[string]string, error) {
			if namespace != "team" {
				return nil, errors.New("there is no such namespace")
			}
			return map[string]string{"tier": "trial"}, nil
		},
		Claim: liveClaim, ConfigMap: liveConfigMap,
	}
	if len(writer) > 0 {
		options.Writer = writer[0]
	}
	return NewValidator(options)
}

// object returns a stack as JSON, from a spec in YAML. change may be nil.
func object(t testing.TB, spec string, change func(*v1alpha2.LlamaStackDistribution)) runtime.RawExtension {
	t.Helper()
	stack := v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "my-stack"}}
	stack.APIVersion, stack.Kind = v1alpha2.GroupVersion.String(), v1alpha2.Kind
	testutil.Must(t, yaml.UnmarshalStrict([]byte(spec), &stack.Spec))
	if change != nil {
		change(&stack)
	}
	raw, err := json.Marshal(&stack)
	testutil.Must(t, err)
	return runtime.RawExtension{Raw: raw}
}

func create(raw runtime.RawExtension) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Name:      "my-stack",
		Operation: admissionv1.Create, Object: raw,
	}}
}

// older returns a request for a v1alpha1 stack with a server and annotations, both in YAML.
func older(t testing.TB, server, annotations string) admission.Request {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte("{apiVersion: llamastack.io/v1alpha1, kind: LlamaStackDistribution, " +
		"metadata: {name: my-stack, namespace: team, annotations: " + annotations + "}, spec: {server: " + server + "}}"))
	testutil.Must(t, err)
	return through("v1alpha1", create(runtime.RawExtension{Raw: raw}))
}

func update(before, raw runtime.RawExtension) admission.Request {
	request := create(raw)
	request.Operation, request.OldObject = admissionv1.Update, before
	return request
}

// through returns the request of a user who writes the stack in the given version.
func through(version string, request admission.Request) admission.Request {
	request.RequestKind = &metav1.GroupVersionKind{
		Group: v1alpha2.GroupVersion.Group, Version: version,
		Kind: v1alpha2.Kind,
	}
	return request
}

// beingDeleted adds a deletion timestamp to a stack.
func beingDeleted(t testing.TB, raw runtime.RawExtension) runtime.RawExtension {
	t.Helper()
	var stack map[string]any
	testutil.Must(t, json.Unmarshal(raw.Raw, &stack))
	metadata, _ := stack["metadata"].(map[string]any)
	metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	changed, err := json.Marshal(stack)
	testutil.Must(t, err)
	return runtime.RawExtension{Raw: changed}
}

func marked(stack *v1alpha2.LlamaStackDistribution) {
	stack.Annotations = map[string]string{"llamastack.io/compat": "v1alpha1"}
}

// handleCase is a case of TestHandle.
type handleCase struct {
	config  map[string]string
	request admission.Request
	// denied is a part of the message. It is empty if the request is allowed.
	denied string
	// warned is a part of a warning. It is empty if there is no warning.
	warned string
}

// unfit returns a stack with metadata in JSON, and with a value that does not fit its type.
func unfit(metadata string) runtime.RawExtension {
	return runtime.RawExtension{Raw: []byte(`{"metadata":{` + metadata + `},"spec":{"workload":{"replicas":"two"}}}`)}
}

// deleted, labeled and onOldRelease change a stack.
func deleted(stack *v1alpha2.LlamaStackDistribution) {
	now := metav1.Now()
	stack.DeletionTimestamp, stack.Finalizers = &now, []string{"example.com/held"}
}

func labeled(stack *v1alpha2.LlamaStackDistribution) { stack.Labels = map[string]string{"team": "ml"} }

func onOldRelease(stack *v1alpha2.LlamaStackDistribution) {
	stack.Status.ResolvedDistribution = &v1alpha2.ResolvedDistribution{
		Name: "starter", Image: "docker.io/ogxai/distribution-starter:0.3.5", ImageFrom: v1alpha2.ImageFromCatalogue,
	}
}

func TestHandle(t *testing.T) {
	more := strings.Replace(bad, "{distribution", "{workload: {replicas: 2}, distribution", 1)
	byLabel := func(tier string) map[string]string {
		return map[string]string{"bounds": "[{namespaceLabels: {tier: " + tier + "}, images: [registry.example.com]}]"}
	}
	bounded := map[string]string{"bounds": "[{namespaces: [team], images: [registry.example.com]}]"}
	// The following are v1alpha1 forms of a v1alpha2 stack with more fields than an annotation can hold.
	big := older(t, `{distribution: {name: starter}}`, `{llamastack.io/conversion-data: '{"born":"v1alpha2","omitted":true}'}`)
	bigChanged := older(t, `{distribution: {name: starter}, workers: 2}`, `{llamastack.io/conversion-data: '{"born":"v1alpha2","omitted":true}'}`)
	status, deletion := create(object(t, bad, nil)), create(runtime.RawExtension{})
	status.SubResource, deletion.Operation = "status", admissionv1.Delete
	tests := map[string]handleCase{
		"a good stack":        {request: create(object(t, good, nil))},
		"an unknown provider": {request: create(object(t, bad, nil)), denied: `spec.providers.inference.provider: `},
		"v1alpha1 paths in the message": {
			request: through("v1alpha1", create(object(t, bad, nil))),
			denied:  `spec.server.providers.inference.provider: `,
		},
		"a stack of v1alpha1": {request: older(t, `{distribution: {name: starter}}`, `{}`)},
		"an invalid stack of v1alpha1": {
			request: older(t, `{distribution: {name: startr}}`, `{}`),
			denied:  `spec.server.distribution.name: `,
		},
		"disabled autoscaling of v1alpha1": {request: older(t, `{distribution: {name: starter}, autoscaling: {maxReplicas: 0}}`, `{}`), warned: "spec.server.autoscaling.maxReplicas"},
		"a damaged annotation":             {request: older(t, `{distribution: {name: starter}}`, `{llamastack.io/conversion-data: '{"lost":[{"path"'}`), warned: "llamastack.io/conversion-data"},
		"an unknown field of a provider":   {request: create(object(t, `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpont: "http://a"}}}`, nil)), denied: `did you mean "endpoint"`},
		"an unknown distribution": {
			request: create(object(t, `distribution: {name: startr}`, nil)),
			denied:  `spec.distribution.name: `,
		},
		"a reference between fields": {request: create(object(t, `{distribution: {name: starter}, resources: {models: [{name: a, provider: nobody}]}}`, nil)), denied: `spec.resources.models[0]`},
		"a field of another release": {request: create(object(t, `{distribution: {name: starter}, providers: {skills: {provider: inline::builtin}}}`, onOldRelease)), denied: `spec.providers.skills`},
		"a missing Secret":           {request: create(object(t, `{distribution: {name: starter}, providers: {inference: {provider: openai, apiKey: {secretKeyRef: {name: none, key: token}}}}}`, nil))},
		"a missing ConfigMap":        {request: create(object(t, `{distribution: {name: starter}, baseConfig: {configMapName: none}}`, nil))},
		"a stack that exceeds a bound of an administrator": {
			config: bounded, request: create(object(t, good, nil)), denied: "registry.example.com",
		},
		"a stack that exceeds a bound for the labels of its namespace": {
			config: byLabel("trial"), request: create(object(t, good, nil)), denied: "registry.example.com",
		},
		"a bound for other labels": {config: byLabel("full"), request: create(object(t, good, nil))},
		"labels that cannot be read": {
			config: byLabel("trial"), request: create(object(t, good, func(s *v1alpha2.LlamaStackDistribution) { s.Namespace = "gone" })),
		},
		"an update that makes a valid stack invalid": {
			request: update(object(t, good, nil), object(t, bad, nil)),
			denied:  `spec.providers.inference.provider: `,
		},
		"an update of a stack that was already invalid": {
			request: update(object(t, bad, nil), object(t, more, nil)),
			warned:  `spec.providers.inference.provider: `,
		},
		"a label on an invalid stack":                   {request: update(object(t, bad, nil), object(t, bad, labeled))},
		"a finalizer of an invalid stack":               {request: update(object(t, bad, deleted), object(t, more, deleted))},
		"the status of an invalid stack":                {request: status},
		"a deletion":                                    {request: deletion},
		"garbage":                                       {request: create(runtime.RawExtension{Raw: []byte(`{"spec":`)}), denied: "read the object in the request"},
		"not an object":                                 {request: create(runtime.RawExtension{Raw: []byte(`[]`)}), denied: "must be an object"},
		"v1alpha1 over a stack with too much data":      {request: through("v1alpha1", update(big.Object, bigChanged.Object)), denied: "write the object as v1alpha2"},
		"v1alpha1 without the annotation with the data": {request: through("v1alpha1", update(big.Object, older(t, `{distribution: {name: starter}, workers: 2}`, `{}`).Object)), denied: "write the object as v1alpha2"},
		"the same spec in v1alpha1":                     {request: through("v1alpha1", update(big.Object, big.Object))},
		"a finalizer of a stack that is being deleted": {request: through("v1alpha1",
			update(big.Object, beingDeleted(t, bigChanged.Object)))},
		"new data that does not fit into the annotation":                {request: bigChanged, warned: "write the object as v1alpha2"},
		"the compatibility annotation removed":                          {request: update(object(t, good, marked), object(t, good, nil)), warned: "llamastack.io/compat"},
		"the compatibility annotation of a stack with a volume removed": {request: update(object(t, `{distribution: {name: starter}, workload: {storage: {}}}`, marked), object(t, `{distribution: {name: starter}, workload: {storage: {}}}`, nil)), warned: `"/.llama"`},
		"offline, and the server would not start":                       {request: create(object(t, `{distribution: {name: starter}, offline: true, providers: {files: {provider: s3, settings: {bucket_name: a}}}}`, nil)), denied: "s3.amazonaws.com"},
		"offline, and requests would fail":                              {request: create(object(t, `{distribution: {name: starter}, offline: true, providers: {inference: {provider: groq}}}`, nil)), warned: "api.groq.com"},
		"an external provider":                                          {request: create(object(t, `{distribution: {name: starter}, externalProviders: {inference: [{providerId: a, image: "example.com/a:1"}]}}`, nil))},
		"an external provider that replaces another one":                {request: create(object(t, `{distribution: {name: starter}, externalProviders: {inference: [{providerId: openai, image: "example.com/a:1"}]}}`, nil)), warned: "replaces the configuration's own provider"},
		"an external provider of an unknown API":                        {request: create(object(t, `{distribution: {name: starter}, externalProviders: {telepathy: [{providerId: a, image: "example.com/a:1"}]}}`, nil)), denied: "telepathy"},
		"a valid stack that is too large for a comparison":              {request: create(object(t, `{distribution: {name: starter}, workload: {overrides: {env: [{name: A, value: "`+strings.Repeat("a", maxPlanned)+`"}]}}}`, nil))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t) })
	}
}

// TestHandleOwnNames checks names of the operator, and values that are probably mistakes. A stored stack keeps a name,
// also if the update changes the field that needs it.
func TestHandleOwnNames(t *testing.T) {
	for name, tc := range map[string]handleCase{
		"a volume of the operator":                                      {request: create(object(t, clashing, nil)), denied: `spec.workload.overrides.volumes[0].name: "user-config"`},
		"a variable of the operator, stored":                            {request: update(object(t, clashing, nil), object(t, strings.Replace(clashing, "disabled: [eval]", `providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}`, 1), nil)), warned: `spec.workload.overrides.volumes[0].name: "user-config"`},
		"another error in a stored stack with a volume of the operator": {request: update(object(t, clashing, nil), object(t, strings.Replace(clashing, "starter", "startr", 1), nil)), denied: `spec.distribution.name: `, warned: "user-config"},
		"a volume of the operator in v1alpha1": {
			request: older(t, `{distribution: {name: starter}, storage: {}, podOverrides: {volumes: [{name: lls-storage, emptyDir: {}}]}}`, `{}`),
			warned:  `spec.server.podOverrides.volumes[0].name: "lls-storage"`,
		},
		"an endpoint that is probably a mistake": {
			request: create(object(t, `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://localhost:8000"}}}`, nil)),
			warned:  `spec.providers.inference.endpoint: "http://localhost:8000"`,
		},
		"an unknown annotation": {request: older(t, `{distribution: {name: starter}}`, `{llamastack.io/pausd: "true"}`), warned: "llamastack.io/paused"},
	} {
		t.Run(name, func(t *testing.T) { tc.check(t) })
	}
}

// TestHandleWrongType checks that a value of the wrong type is an error when a user creates a stack or changes its
// spec. It is not an error in other updates, or while the stack is being deleted.
func TestHandleWrongType(t *testing.T) {
	for name, tc := range map[string]handleCase{
		"a value of the wrong type": {request: create(runtime.RawExtension{Raw: []byte(`{"spec":{"workload":{"replicas":"two"}}}`)}), denied: "spec.workload.replicas"},
		"a finalizer of a stack with a value of the wrong type": {request: update(object(t, good, deleted),
			runtime.RawExtension{Raw: []byte(`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"workload":{"replicas":"two"}}}`)})},
		"a label on a stack with a value of the wrong type": {
			request: update(unfit(``), unfit(`"labels":{"team":"ml"}`)),
			warned:  "spec.workload.replicas",
		},
		"a change to a stack with a value of the wrong type": {
			request: update(unfit(``), runtime.RawExtension{Raw: []byte(`{"spec":{"workload":{"replicas":"three"}}}`)}),
			denied:  "spec.workload.replicas",
		},
	} {
		t.Run(name, func(t *testing.T) { tc.check(t) })
	}
}

func (tc handleCase) check(t *testing.T) {
	t.Helper()
	check(t, newValidator(t, tc.config).Handle(t.Context(), tc.request), tc.denied, tc.warned)
}

// check checks a response. denied is a part of its message, or empty if the request is allowed. warned is a part of its
// warnings, or empty if there are none.
func check(t *testing.T, got admission.Response, denied, warned string) {
	t.Helper()
	if got.Allowed != (denied == "") {
		t.Fatalf("allowed %v: %v", got.Allowed, got.Result)
	}
	if denied != "" && (!strings.Contains(got.Result.Message, denied) ||
		got.Result.Code != http.StatusUnprocessableEntity) {
		t.Errorf("denied with %d: %s\nwant %s", got.Result.Code, got.Result.Message, denied)
	}
	if denied != "" && len(got.Result.Details.Causes) == 0 {
		t.Error("the answer has no causes, which kubectl prints")
	}
	if found := strings.Join(got.Warnings, "\n"); !strings.Contains(found, warned) || (warned == "" && found != "") {
		t.Errorf("the warnings are %q, want %q", found, warned)
	}
}

// TestCauses checks that the function `causes` separates the field from the rest of a message, because kubectl prints
// both for each cause.
func TestCauses(t *testing.T) {
	want := []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.port", Message: `"http" must be a whole number: take 8321`},
		{Type: metav1.CauseTypeFieldValueInvalid, Message: "and 7 more"},
		{Type: metav1.CauseTypeFieldValueInvalid, Message: "read the object in the request: EOF"},
	}
	got := causes([]string{`spec.port: "http" must be a whole number: take 8321`, "and 7 more", "read the object in the request: EOF"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

// While the operator's configuration cannot be read, the Validator checks only the rules that do not depend on it.
func TestWithoutConfig(t *testing.T) {
	validator := NewValidator(Options{Config: func(context.Context) (operatorconfig.Config, error) {
		return operatorconfig.Config{}, errors.New("the cache is not filled")
	}})
	if got := validator.Handle(t.Context(), create(object(t, `distribution: {name: startr}`, nil))); !got.Allowed {
		t.Errorf("denied: %v", got.Result)
	}
	if got := validator.Handle(t.Context(), create(object(t, `{distribution: {name: starter}, disabled: [nothing/at/all]}`, nil))); got.Allowed {
		t.Error("a spec that is invalid with every configuration was allowed")
	}
}

// The wait for other requests ends when the request's context ends. The request is then allowed.
func TestBusy(t *testing.T) {
	validator := newValidator(t, nil)
	for i := range maxPlans {
		if _, err := validator.plans.Take(t.Context(), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := validator.Handle(ctx, create(object(t, good, nil))); !got.Allowed {
		t.Errorf("denied: %v", got.Result)
	}
}
