package operatorconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

func TestReadExposure(t *testing.T) {
	got, errs := operatorconfig.Read(configMap(map[string]string{
		operatorconfig.KeyIngress: `{domain: apps.example.com, className: nginx, annotations: {cert-manager.io/cluster-issuer: le}, controllerNamespaces: [a, b]}`,
		operatorconfig.KeyGateway: `{name: public, namespace: gateways}`,
	}), operatorconfig.Config{})
	if len(errs) > 0 {
		t.Fatal(messages(errs))
	}
	want := operatorconfig.Ingress{
		Domain: "apps.example.com", ClassName: "nginx",
		Annotations:          map[string]string{"cert-manager.io/cluster-issuer": "le"},
		ControllerNamespaces: []string{"a", "b"},
	}
	if diff := cmp.Diff(want, got.Ingress); diff != "" {
		t.Errorf("ingress (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&operatorconfig.Gateway{Name: "public", Namespace: "gateways"}, got.Gateway); diff != "" {
		t.Errorf("gateway (-want +got):\n%s", diff)
	}
}

func TestReadExposureErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		key, text string
		want      []string
	}{
		"a URL for a domain": {operatorconfig.KeyIngress, "domain: https://apps.example.com", []string{
			`ingress.domain: "https://apps.example.com" cannot be used: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		}},
		"a misspelt field":     {operatorconfig.KeyIngress, "ingressClassName: nginx", []string{`ingress.ingressClassName: unknown field; did you mean "className"?`}},
		"an annotation's type": {operatorconfig.KeyIngress, "annotations: {a: true}", []string{`ingress.annotations[a]: line 1: must be text, got the boolean "true"; put it in quotes`}},
		"no namespace":         {operatorconfig.KeyGateway, "name: public", []string{"gateway: the name or the namespace of the Gateway is missing; set both"}},
		"no gateway":           {operatorconfig.KeyGateway, "{}", []string{"gateway: the name or the namespace of the Gateway is missing; set both"}},
		"a text":               {operatorconfig.KeyGateway, "public", []string{`gateway: line 1: must be a mapping, got the text "public"`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, errs := read(tc.key, tc.text)
			if diff := cmp.Diff(tc.want, errs); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if got.Gateway != nil || got.Ingress.Domain != "" || !got.Unknown(tc.key) {
				t.Errorf("config %+v", got)
			}
		})
	}
}
