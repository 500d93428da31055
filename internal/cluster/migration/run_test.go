package migration_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// standIn is a stand-in for an API server. It serves a number of objects with the names 0, 1 … in pages.
type standIn struct {
	objects int
	// fail returns the error of a write, given the name of the object and the number of earlier attempts.
	fail func(name string, tries int) error
	// keep reports whether writes change nothing, as for objects that are already in the storage version.
	keep bool
	// generation returns the definition's generation, given the number of earlier reads. Nil means that the generation
	// does not change.
	generation func(reads int) int64

	reads   int
	limits  []int64
	tries   map[string]int
	trimmed []string
}

func (s *standIn) client() client.Client {
	s.tries = map[string]int{}
	return interceptor.NewClient(struct{ client.WithWatch }{}, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, object client.Object,
			_ ...client.GetOption,
		) error {
			definition := object.(*apiextensionsv1.CustomResourceDefinition)
			if s.generation != nil {
				definition.Generation = s.generation(s.reads)
			}
			s.reads++
			definition.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true},
				{Name: "v2", Served: true, Storage: true},
			}
			definition.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
			definition.Status.StoredVersions = []string{"v1", "v2"}
			return nil
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			return s.page(list.(*metav1.PartialObjectMetadataList), options)
		},
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, _ client.Patch,
			_ ...client.PatchOption,
		) error {
			tries := s.tries[object.GetName()]
			s.tries[object.GetName()]++
			if s.fail != nil {
				if err := s.fail(object.GetName(), tries); err != nil {
					return err
				}
			}
			object.SetResourceVersion(map[bool]string{true: "1", false: "2"}[s.keep])
			return nil
		},
		SubResourcePatch: func(_ context.Context, _ client.Client, _ string, _ client.Object, patch client.Patch,
			_ ...client.SubResourcePatchOption,
		) error {
			data, err := patch.Data(nil)
			if err != nil {
				return err
			}
			var written apiextensionsv1.CustomResourceDefinition
			err = json.Unmarshal(data, &written)
			s.trimmed = written.Status.StoredVersions
			return err
		},
	})
}

func (s *standIn) page(list *metav1.PartialObjectMetadataList, options []client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	s.limits = append(s.limits, asked.Limit)
	first := 0
	if asked.Continue != "" {
		if _, err := fmt.Sscan(asked.Continue, &first); err != nil {
			return err
		}
	}
	last := min(first+int(asked.Limit), s.objects)
	for i := first; i < last; i++ {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name:            fmt.Sprint(i),
			ResourceVersion: "1",
		}})
	}
	if last < s.objects {
		list.Continue = fmt.Sprint(last)
	}
	return nil
}

// The migrator lists the objects in pages of 500, does not exceed the write rate, and reports the first, the last and
// some other steps.
func TestPagesAndRate(t *testing.T) {
	for name, tc := range map[string]struct {
		standIn standIn
		want    time.Duration
		result  migration.Progress
	}{
		"every object is written":     {standIn{objects: 1001}, 50 * time.Second, migration.Progress{Version: "v2", Objects: 1001, Migrated: 1001, Rewritten: 1001}},
		"no object has to be written": {standIn{objects: 1001, keep: true}, 0, migration.Progress{Version: "v2", Objects: 1001, Migrated: 1001}},
		"there are no objects":        {standIn{}, 0, migration.Progress{Version: "v2"}},
		"a few objects in less time":  {standIn{objects: 3}, 100 * time.Millisecond, migration.Progress{Version: "v2", Objects: 3, Migrated: 3, Rewritten: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var told []int
				result, err := migration.New(tc.standIn.client(), "stacks", migration.Options{
					Observe: migration.Sparsely(func(now migration.Progress) { told = append(told, now.Migrated) }),
				}).Run(t.Context())
				if took := time.Since(begin) - 5*time.Second; err != nil || took < tc.want || took > tc.want+time.Second {
					t.Errorf("took %v after settling, want %v (%v)", took, tc.want, err)
				}
				if diff := cmp.Diff(tc.result, result.Progress) + cmp.Diff([]string{"v2"}, tc.standIn.trimmed); diff != "" ||
					!result.Complete {
					t.Errorf("complete %v (-want +got):\n%s", result.Complete, diff)
				}
				for _, limit := range tc.standIn.limits {
					if limit != 500 {
						t.Errorf("a page of %d, want 500", limit)
					}
				}
				if most := tc.standIn.objects/100 + 2; len(told) > most || told[0] != 0 || told[len(told)-1] != tc.standIn.objects {
					t.Errorf("progress reports %v, want the first, the last, and at most %d", told, most)
				}
			})
		})
	}
}

// A slow run reports its progress at time intervals.
func TestProgressByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := standIn{objects: 30}
		var told []int
		_, err := migration.New(s.client(), "stacks", migration.Options{
			Rate: 1, Observe: migration.Sparsely(func(now migration.Progress) { told = append(told, now.Migrated) }),
		}).Run(t.Context())
		if err != nil || len(told) != 4 {
			t.Errorf("progress reports %v in half a minute, want the first, the last and two others (%v)", told, err)
		}
	})
}

var errAway = apierrors.NewInternalError(fmt.Errorf("failed calling webhook"))

func TestWritesThatFail(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "", nil)
	for name, tc := range map[string]struct {
		fail         func(name string, tries int) error
		wantErr      bool
		wantFailed   int
		wantMigrated int
	}{
		"a write is repeated after a conflict": {
			fail: func(_ string, tries int) error {
				if tries < 2 {
					return conflict
				}
				return nil
			},
			wantMigrated: 100,
		},
		"a deleted object": {
			fail:         func(string, int) error { return apierrors.NewNotFound(schema.GroupResource{}, "") },
			wantMigrated: 100,
		},
		"a write without a response": {
			fail: func(name string, _ int) error {
				if strings.HasSuffix(name, "0") {
					return errAway
				}
				return nil
			},
			wantFailed: 10, wantMigrated: 90,
		},
		"no responses": {
			fail: func(name string, _ int) error {
				if len(name) == 2 {
					return errAway
				}
				return nil
			},
			wantErr: true, wantFailed: 2, wantMigrated: 10,
		},
		"all writes are rejected": {
			fail: func(string, int) error {
				return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("%s", strings.Repeat("ä", 500)))
			},
			wantFailed: 100,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := standIn{objects: 100, fail: tc.fail}
			var result migration.Result
			var err error
			synctest.Test(t, func(t *testing.T) { result, err = newMigrator(s.client(), migration.Options{}).Run(t.Context()) })
			if (err != nil) != tc.wantErr || result.Failed != tc.wantFailed || result.Migrated != tc.wantMigrated {
				t.Errorf("%+v, %v", result.Progress, err)
			}
			if complete := !tc.wantErr && tc.wantFailed == 0; result.Complete != complete || (s.trimmed != nil) != complete {
				t.Errorf("complete %v, trimmed to %v, want %v", result.Complete, s.trimmed, complete)
			}
			named := result.FailedObjects()
			if want := min(tc.wantFailed, 21); len(named) != want {
				t.Errorf("the report contains %d objects, want %d", len(named), want)
			}
			for _, one := range named {
				if len(one) > 300 {
					t.Errorf("the report of an object has %d bytes", len(one))
				}
			}
		})
	}
}

// If the definition changes before the first write, the run writes no objects. The next run writes the objects.
func TestChangedWhileSettling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := standIn{objects: 3, generation: func(reads int) int64 { return int64(min(reads, 1)) }}
		migrator := migration.New(s.client(), "stacks", migration.Options{})
		if _, err := migrator.Run(t.Context()); !errors.Is(err, migration.ErrChanged) || len(s.limits)+len(s.tries) > 0 {
			t.Errorf("%d lists, %d writes, error %v", len(s.limits), len(s.tries), err)
		}
		if result, err := migrator.Run(t.Context()); err != nil || !result.Complete || s.tries["0"] != 1 {
			t.Errorf("the next run: %+v, %d writes of an object, error %v", result, s.tries["0"], err)
		}
	})
}
