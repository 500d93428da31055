package cloud

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/clouds"
)

// FuzzEndpoint checks that signed requests for any AWS registry go to AWS.
func FuzzEndpoint(f *testing.F) {
	for _, registry := range []string{
		clouds.ECR, "123456789012.dkr-ecr.eu-west-1.on.aws", "123456789012.dkr.ecr-fips.-.amazonaws.com.cn", "123456789012.dkr-ecr.x.on.amazonwebservices.com.cn",
	} {
		f.Add(registry)
	}
	f.Fuzz(func(t *testing.T, registry string) {
		if cloud, _ := imagename.CloudOf(registry); cloud != imagename.AWS {
			return
		}
		at := ecrOf(registry)
		target, err := url.Parse("https://" + at.endpoint + "/")
		if err != nil || target.Host != at.endpoint || at.region == "" || strings.Contains(at.region, ".") {
			t.Fatalf("%q: %+v, %v", registry, at, err)
		}
		owned := false
		for _, domain := range []string{
			".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu", ".api.aws",
			".api.amazonwebservices.com.cn",
		} {
			owned = owned || strings.HasSuffix(at.endpoint, at.region+domain)
		}
		if !owned {
			t.Errorf("the endpoint of %q is %q", registry, at.endpoint)
		}
	})
}

// FuzzExpiry checks that a token of any form expires.
func FuzzExpiry(f *testing.F) {
	for _, token := range []string{
		"", "a.b.c", clouds.AzureToken(time.Unix(1, 0)), "a.e30.c", "a.eyJleHAiOi0xfQ.c",
		"a.eyJleHAiOjllOTl9.c",
	} {
		f.Add(token)
	}
	otherwise := time.Unix(1, 0)
	f.Fuzz(func(t *testing.T, token string) {
		if got := expiryOf(token, otherwise); got.IsZero() || got.Before(otherwise) {
			t.Errorf("%q expires %v", token, got)
		}
	})
}
