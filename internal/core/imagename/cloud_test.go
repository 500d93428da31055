package imagename_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// TestCloudOf checks that the registries of each cloud are recognized, and that hosts with similar names are not.
func TestCloudOf(t *testing.T) {
	for registry, want := range map[string]imagename.Cloud{
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com":                imagename.AWS,
		"123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com":       imagename.AWS,
		"123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn":            imagename.AWS,
		"123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu":            imagename.AWS,
		"123456789012.dkr-ecr.eu-west-1.on.aws":                       imagename.AWS,
		"123456789012.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn": imagename.AWS,
		"gcr.io":                      imagename.Google,
		"eu.gcr.io":                   imagename.Google,
		"europe-west1-docker.pkg.dev": imagename.Google,
		"us-docker.pkg.dev":           imagename.Google,
		"team.azurecr.io":             imagename.Azure,
		"team-a1b2c3.azurecr.io":      imagename.Azure,
		"team.azurecr.cn":             imagename.Azure,
		"team.azurecr.us":             imagename.Azure,

		"":                  "",
		"public.ecr.aws":    "",
		"index.docker.io":   "",
		"amazonaws.com":     "",
		"azurecr.io":        "",
		"pkg.dev":           "",
		"docker.pkg.dev":    "",
		"-docker.pkg.dev.x": "",
		// These are names with a port, unusual spellings, and names of hosts outside the clouds.
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com:443":         "",
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com.":            "",
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com.example.com": "",
		"123456789012.dkr.ecr.eu-west-1.amazonaws.com.cn.example":  "",
		"x.123456789012.dkr.ecr.eu-west-1.amazonaws.com":           "",
		"12345678901.dkr.ecr.eu-west-1.amazonaws.com":              "",
		"1234567890123.dkr.ecr.eu-west-1.amazonaws.com":            "",
		"123456789012.dkr.ecr.eu.west.amazonaws.com":               "",
		"123456789012.dkr.ecr..amazonaws.com":                      "",
		"123456789012.dkr.ecr.s3.amazonaws.com.evil":               "",
		"123456789012.dkr-ecr.eu-west-1.amazonaws.com":             "",
		"123456789012.dkr.ecr.eu-west-1.on.aws":                    "",
		"123456789012-dkr-ecr.eu-west-1.amazonaws.com":             "",
		"123456789012.DKR.ecr.eu-west-1.amazonaws.com":             "",
		"bucket.s3.amazonaws.com":                                  "",
		"evilgcr.io":                                               "",
		"a.b.gcr.io":                                               "",
		".gcr.io":                                                  "",
		"gcr.io.example.com":                                       "",
		"gcrxio":                                                   "",
		"evil.example.com/gcr.io":                                  "",
		"europe-docker.pkg.dev.example.com":                        "",
		"x.europe-docker.pkg.dev":                                  "",
		"europe-docker.pkgxdev":                                    "",
		"europe-npm.pkg.dev":                                       "",
		"team.azurecr.io.example.com":                              "",
		"teamazurecr.io":                                           "",
		"a.team.azurecr.io":                                        "",
		"team.westeurope.data.azurecr.io":                          "",
		"team.azurecr.io@example.com":                              "",
		"team.azurecr.de":                                          "",
		"team.azurecr.io\n":                                        "",
	} {
		if got, ok := imagename.CloudOf(registry); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t, want %q", registry, got, ok, want)
		}
	}
}
