package plan_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// What whoever exposes a stack may not expect is a warning with its remedy.
func TestExposureWarnings(t *testing.T) {
	const (
		https    = "tls: {enabled: true, secretName: cert}, "
		settings = `, settings: {server: {auth: {provider_config: {type: custom, endpoint: "http://auth"}}}}`
	)
	gateway := render.Cluster{Gateway: &render.Gateway{Name: "gw", Namespace: "infra"}, HTTPRoutes: true}
	for name, tc := range map[string]struct {
		networking, rest string
		cluster          render.Cluster
		want             []string
	}{
		"not exposed":            {networking: https + "expose: false"},
		"plain and open":         {networking: "expose: {hostname: a.example.com}", want: []string{"asks nobody who they are"}},
		"plain, and asks":        {networking: "expose: {hostname: a.example.com}", rest: settings},
		"HTTPS outside":          {networking: "expose: {hostname: a.example.com, tlsSecretName: t}"},
		"made-up name":           {networking: "expose: {tlsSecretName: t}", want: []string{".llama-stack.internal\", which no DNS knows"}},
		"HTTPS inside":           {networking: https + "expose: {hostname: a.example.com, ingressClassName: nginx}"},
		"HTTPS, default class":   {networking: https + "expose: {hostname: a.example.com}"},
		"HTTPS, unknown class":   {networking: https + "expose: {hostname: a.example.com, ingressClassName: mine}", want: []string{`ingress class "mine" is told that is not known`}},
		"HTTPS, Traefik":         {networking: https + "expose: {hostname: a.example.com, ingressClassName: traefik}", want: []string{"make a ServersTransport"}},
		"HTTPS behind a Gateway": {networking: https + "expose: {hostname: a.example.com}", cluster: gateway, want: []string{"make a BackendTLSPolicy"}},
		"HTTP behind a Gateway":  {networking: "expose: {hostname: a.example.com}", cluster: gateway},
		"HTTPS by a Route":       {networking: https + "expose: {hostname: a.example.com}", cluster: render.Cluster{Routes: true}},
	} {
		in := input(t, "networking: {"+tc.networking+"}"+strings.Replace(tc.rest, ", settings", "\nsettings", 1))
		in.Cluster = tc.cluster
		var got []string
		for _, warning := range build(t, in).Warnings {
			if warning.Path == "spec.networking.expose" {
				got = append(got, warning.Message)
			}
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: warnings %q, want %q", name, got, tc.want)
			continue
		}
		for i, want := range tc.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: warning %q, want %q in it", name, got[i], want)
			}
		}
	}
}
