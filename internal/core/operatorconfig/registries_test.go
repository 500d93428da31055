package operatorconfig_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

func TestReadRegistries(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want operatorconfig.Registries
	}{
		"nothing":     {"", operatorconfig.Registries{ReadLabels: true}},
		"empty":       {"{}", operatorconfig.Registries{ReadLabels: true}},
		"null values": {"{allow: null, readLabels: }", operatorconfig.Registries{ReadLabels: true}},
		"everything": {`
allow: [registry.example.com, "localhost:5000/a/b", quay.io/team]
insecure: ["registry.example.com:5000", "[::1]:5000"]
rewrite: {docker.io/ogxai: registry.example.com/mirror}
readLabels: false
checkInterval: 10m
cloudIdentity: [123456789012.dkr.ecr.eu-west-1.amazonaws.com, Europe-docker.pkg.dev/project, team.azurecr.io/a/b]
`, operatorconfig.Registries{
			CloudIdentity: []string{"123456789012.dkr.ecr.eu-west-1.amazonaws.com", "Europe-docker.pkg.dev/project", "team.azurecr.io/a/b"},
			Allow:         []string{"registry.example.com", "localhost:5000/a/b", "quay.io/team"},
			CheckInterval: 10 * time.Minute,
			Insecure:      []string{"registry.example.com:5000", "[::1]:5000"},
			Rewrite:       map[string]string{"docker.io/ogxai": "registry.example.com/mirror"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, errs := read(operatorconfig.KeyRegistries, tc.text)
			if len(errs) > 0 {
				t.Error(errs)
			}
			if diff := cmp.Diff(tc.want, got.Registries); diff != "" {
				t.Errorf("registries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadRegistriesErrors(t *testing.T) {
	const place = "a registry or a repository prefix: write host[:port][/path], with the path in lower case"
	for text, want := range map[string][]string{
		"allowed: []":           {`registries.allowed: unknown field; did you mean "allow"?`},
		"timeout: 1s":           {"registries.timeout: unknown field; known fields: allow, checkInterval, cloudIdentity, insecure, readLabels, rewrite"},
		"allow: quay.io":        {`registries.allow: line 1: must be a list, got the text "quay.io"`},
		"allow: [1]":            {`registries.allow[0]: line 1: must be text, got the number "1"; put it in quotes`},
		"allow: [https://x]":    {`registries.allow[0]: "https://x" is not ` + place},
		"allow: [x/Y]":          {`registries.allow[0]: "x/Y" is not ` + place},
		"allow: [x, x]":         {`registries.allow[1]: "x" is listed twice; remove one of the two entries`},
		"insecure: [quay.io/a]": {`registries.insecure[0]: "quay.io/a" is not a registry: write host[:port]`},
		"rewrite: [a]":          {"registries.rewrite: line 1: must be a mapping, got a list"},
		"rewrite: {a: 'b c'}":   {`registries.rewrite[a]: "b c" is not ` + place},
		"rewrite: {'a b': b}":   {`registries.rewrite[a b]: "a b" is not ` + place},
		"rewrite: {a: }":        {"registries.rewrite[a]: line 1: must be text, got an empty value"},
		"cloudIdentities: []":   {`registries.cloudIdentities: unknown field; did you mean "cloudIdentity"?`},
		"cloudIdentity: true":   {`registries.cloudIdentity: line 1: must be a list, got the boolean "true"`},
		"cloudIdentity: [aws]": {`registries.cloudIdentity[0]: "aws" is not in a cloud registry: write one of ` + imagename.CloudForms +
			`, followed by a repository prefix; for any other registry, use a pull Secret`},
		"cloudIdentity: [team.azurecr.io/A]": {`registries.cloudIdentity[0]: "team.azurecr.io/A" is not ` + place},
		"cloudIdentity: ['team.azurecr.io:443']": {`registries.cloudIdentity[0]: "team.azurecr.io:443" is not in a cloud registry: write one of ` + imagename.CloudForms +
			`, followed by a repository prefix; for any other registry, use a pull Secret`},
		"cloudIdentity: [public.ecr.aws/team]":        {`registries.cloudIdentity[0]: "public.ecr.aws/team" is public, and the operator reads it without an identity; remove this entry`},
		"cloudIdentity: [us-docker.pkg.dev]":          {`registries.cloudIdentity[0]: "us-docker.pkg.dev" contains the repositories of all projects; add the project: us-docker.pkg.dev/<project>`},
		"cloudIdentity: [a.azurecr.io, a.azurecr.io]": {`registries.cloudIdentity[1]: "a.azurecr.io" is listed twice; remove one of the two entries`},
		"{cloudIdentity: [b.azurecr.io, A.azurecr.io/b], insecure: [a.azurecr.io]}": {`registries.cloudIdentity[1]: "A.azurecr.io" is also listed in registries.insecure, and the operator ` +
			`never sends a token to a registry whose certificate is not verified; remove it from one of the two lists`},
		"readLabels: 'true'":   {`registries.readLabels: line 1: must be true or false, got the text "true"`},
		"readLabels: yes":      {`registries.readLabels: line 1: must be true or false, got the text "yes"`},
		"checkInterval: 10":    {`registries.checkInterval: line 1: must be text, got the number "10"; put it in quotes`},
		"checkInterval: often": {`registries.checkInterval: line 1: "often" is not a duration: write one like 90s or 1h30m`},
		"checkInterval: 59s":   {`registries.checkInterval: line 1: "59s" is not between 1m0s and 24h0m0s`},
		"checkInterval: 25h":   {`registries.checkInterval: line 1: "25h" is not between 1m0s and 24h0m0s`},
	} {
		t.Run(text, func(t *testing.T) {
			got, errs := read(operatorconfig.KeyRegistries, text)
			if diff := cmp.Diff(want, errs); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if got.Registries.ReadLabels || !got.Unknown(operatorconfig.KeyRegistries) {
				t.Error("labels are read although the allowed registries are not known")
			}
		})
	}
}
