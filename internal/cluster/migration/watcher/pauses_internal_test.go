package watcher

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
)

// answers is a stand-in for an API server with a definition that is not migrated. It contains the responses, and
// records the times of list requests.
type answers struct {
	lists       []time.Duration
	list, patch error
}

func (a *answers) client(start time.Time) client.Client {
	return interceptor.NewClient(struct{ client.WithWatch }{}, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, object client.Object,
			_ ...client.GetOption,
		) error {
			definition := object.(*apiextensionsv1.CustomResourceDefinition)
			definition.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v2", Served: true,
				Storage: true,
			}}
			definition.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
			definition.Status.StoredVersions = []string{"v1", "v2"}
			return nil
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			a.lists = append(a.lists, time.Since(start))
			list.(*metav1.PartialObjectMetadataList).Items = []metav1.PartialObjectMetadata{
				{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			}
			return a.list
		},
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return a.patch
		},
	})
}

// If a list request fails, the next attempt follows soon. If a write fails, a user has to correct the object, and the
// next attempt follows within an hour.
func TestPauses(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "a", nil)
	for name, tc := range map[string]struct {
		answers answers
		want    []int // seconds
	}{
		"list requests fail": {
			answers{list: apierrors.NewInternalError(context.DeadlineExceeded)},
			[]int{1, 2, 4, 8, 16, 32, 60, 60, 60},
		},
		"a write is rejected": {answers{patch: forbidden}, []int{60, 120, 240, 480, 960, 1920, 3600, 3600}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				w := New(Options{Client: tc.answers.client(time.Now()), Migration: migration.Options{Settle: time.Nanosecond}})
				changes := make(chan struct{}, 1)
				changes <- struct{}{}
				go w.follow(ctx, changes)
				total := 0
				for _, pause := range tc.want {
					total += pause
				}
				<-time.After(time.Duration(total)*time.Second + time.Second/2) // The clock is synthetic.
				cancel()
				synctest.Wait()
				var got []int
				for i := range tc.answers.lists[1:] {
					got = append(got, int((tc.answers.lists[i+1] - tc.answers.lists[i]).Round(time.Second).Seconds()))
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("seconds between attempts (-want +got):\n%s", diff)
				}
			})
		})
	}
}
