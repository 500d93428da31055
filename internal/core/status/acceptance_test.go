package status_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = object.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func TestNotAccepted(t *testing.T) {
	route := func(conditions string) string {
		return "{kind: HTTPRoute, metadata: {name: my, generation: 2}, status: {parents: [{conditions: [" + conditions + "]}]}}"
	}
	const openShift = "{kind: Route, metadata: {name: my}, status: {ingress: "
	for name, tc := range map[string]struct{ object, want string }{
		"no controller has processed it": {"{kind: HTTPRoute, metadata: {name: my, generation: 2}}", ""},
		"accepted": {
			route(`{type: Accepted, status: "True", observedGeneration: 2, reason: Accepted}, {type: ResolvedRefs, status: "True", reason: ResolvedRefs}`), "",
		},
		"not accepted": {
			route(`{type: Accepted, status: "False", observedGeneration: 2, reason: NoMatchingListenerHostname, message: no listener}`),
			`HTTPRoute "my" does not expose the server (NoMatchingListenerHostname): no listener`,
		},
		"references": {
			route(`{type: Accepted, status: "True"}, {type: ResolvedRefs, status: "False", observedGeneration: 2, reason: BackendNotFound, message: no Service}`),
			`HTTPRoute "my" does not expose the server (BackendNotFound): no Service`,
		},
		"of an older generation": {route(`{type: Accepted, status: "False", observedGeneration: 1, reason: NoMatchingParent}`), ""},
		"not known yet":          {route("{type: Accepted, status: Unknown, reason: Pending}"), ""},
		"another form":           {"{kind: HTTPRoute, metadata: {name: my}, status: {parents: 3}}", ""},
		"a Route's host": {
			openShift + `[{conditions: [{type: Admitted, status: "False", reason: HostAlreadyClaimed, message: route theirs already exposes it}]}]}}`,
			`Route "my" does not expose the server (HostAlreadyClaimed): another Route already uses the host name; use a different host name`,
		},
		"one of two routers": {
			openShift + `[{conditions: [{type: Admitted, status: "False", reason: NoServiceName, message: x}]}, {conditions: [{type: Admitted, status: "True"}]}]}}`, "",
		},
		"a router that has not decided, and one that rejects the route": {
			openShift + `[{conditions: [{type: Admitted, status: Unknown}]}, {conditions: [{type: Admitted, status: "False", reason: NoServiceName, message: x}]}]}}`,
			`Route "my" does not expose the server (NoServiceName): x`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := status.NotAccepted(objectOf(t, tc.object)); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestPolicyNotAccepted(t *testing.T) {
	const (
		gateway = "ancestorRef: {group: gateway.networking.k8s.io, kind: Gateway, name: public, namespace: gateways}"
		refused = `{type: Accepted, status: "False", observedGeneration: 2, reason: NoValidCACertificate, message: no certificate}`
		told    = `BackendTLSPolicy "my" is not accepted (NoValidCACertificate), so the Gateway cannot reach the server: no certificate`
	)
	for name, tc := range map[string]struct{ ancestors, want string }{
		"no controller has processed it": {"[]", ""},
		"accepted":                       {`[{` + gateway + `, conditions: [{type: Accepted, status: "True", reason: Accepted}]}]`, ""},
		"not accepted":                   {`[{` + gateway + `, conditions: [` + refused + `]}]`, told},
		"references": {
			`[{` + gateway + `, conditions: [{type: Accepted, status: "True"}, {type: ResolvedRefs, status: "False", reason: InvalidKind, message: a Secret}]}]`,
			`BackendTLSPolicy "my" is not accepted (InvalidKind), so the Gateway cannot reach the server: a Secret`,
		},
		"by an object that is not a Gateway": {`[{ancestorRef: {kind: Service, name: my-service}, conditions: [` + refused + `]}]`, told},
		"by another Gateway":                 {`[{ancestorRef: {kind: Gateway, name: public}, conditions: [` + refused + `]}]`, ""},
		"an older policy of the user takes precedence": {
			`[{` + gateway + `, conditions: [{type: Accepted, status: "False", reason: Conflicted, message: an older one}]}]`, "",
		},
		"of an older generation": {
			`[{` + gateway + `, conditions: [{type: Accepted, status: "False", observedGeneration: 1, reason: Invalid}]}]`, "",
		},
		"another form": {"3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := "{kind: BackendTLSPolicy, metadata: {name: my, namespace: ns, generation: 2}, status: {ancestors: " + tc.ancestors + "}}"
			got := status.PolicyNotAccepted(objectOf(t, text), types.NamespacedName{Namespace: "gateways", Name: "public"})
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
