package manager

import (
	"context"
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestOtherInstallation checks which installation the definition names, for each form of a definition and each error.
func TestOtherInstallation(t *testing.T) {
	service := func(namespace string) *apiextensionsv1.WebhookClientConfig {
		return &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: namespace}}
	}
	url, failed := "https://192.0.2.1", errors.New("failed")
	crds := schema.GroupResource{Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions"}
	for name, tc := range map[string]struct {
		config *apiextensionsv1.WebhookClientConfig
		err    error
		want   string
		reads  int // of two calls
		fails  bool
	}{
		"another installation":   {config: service("other"), want: "other", reads: 1},
		"this installation":      {config: service("mine"), reads: 1},
		"an address":             {config: &apiextensionsv1.WebhookClientConfig{URL: &url}, reads: 1},
		"no conversion":          {reads: 1},
		"no definition":          {err: apierrors.NewNotFound(crds, ""), reads: 1},
		"no permission":          {err: apierrors.NewForbidden(crds, "", failed), reads: 1},
		"the API server is away": {err: failed, reads: 2, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			reads := 0
			reader := interceptor.NewClient(struct{ client.WithWatch }{}, interceptor.Funcs{
				Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, object client.Object,
					_ ...client.GetOption,
				) error {
					reads++
					if tc.config != nil {
						object.(*apiextensionsv1.CustomResourceDefinition).Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
							Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: tc.config},
						}
					}
					return tc.err
				},
			})
			found := &installation{reader: reader, namespace: "mine"}
			for range 2 {
				if other, err := found.Other(t.Context()); other != tc.want || (err != nil) != tc.fails {
					t.Errorf("the other installation is %q (%v), want %q", other, err, tc.want)
				}
			}
			if reads != tc.reads {
				t.Errorf("%d reads, want %d", reads, tc.reads)
			}
		})
	}
}
