package api

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/casetable"
)

func loadCases(t *testing.T) *casetable.Table {
	t.Helper()
	table, err := casetable.Load(filepath.Join(testutil.Root(), casetable.Folder))
	testutil.Must(t, err)
	return table
}

func newClient(t *testing.T) client.Client {
	t.Helper()
	c, err := plane.Client()
	testutil.Must(t, err)
	return c
}

// TestCases sends every object in the table to the API server, as a create request and as a server-side apply request,
// both with dry run. It compares the complete response to the create request with the table. The API server must accept
// both requests or reject both.
func TestCases(t *testing.T) {
	c := newClient(t)
	table := loadCases(t)
	typesAlone := tellsTypesAlone(t)
	for _, tc := range table.Cases {
		t.Run(tc.Topic+"/"+tc.Name, func(t *testing.T) {
			got := answer(t, c.Create(t.Context(), toObject(tc), client.DryRunAll))
			if *update {
				tc.Record(casetable.Server, got)
				return
			}
			if typesAlone {
				got = withValues(got, tc.Server)
			}
			if diff := cmp.Diff(tc.Server, got); diff != "" {
				t.Errorf("create (-want +got):\n%s", diff)
			}
			applied := answer(t, c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(toObject(tc)),
				client.FieldOwner("test"), client.DryRunAll))
			if len(applied) == 0 != (len(got) == 0) {
				t.Errorf("the answer to a create request is %q, but the answer to a server-side apply request is %q", got, applied)
			}
		})
	}
	if *update {
		testutil.Must(t, table.Save())
	}
}

func toObject(tc *casetable.Case) *unstructured.Unstructured {
	return (&unstructured.Unstructured{Object: tc.Object}).DeepCopy()
}

// unchecked is the message that the API server adds if the schema rejects an object. In this case, the API server does
// not check all validation rules.
const unchecked = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// answer returns the API server's response with one cause per line. The lines are sorted, because the order of causes
// varies.
func answer(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return []string{err.Error()}
	}
	var lines []string
	for _, cause := range status.Status().Details.Causes {
		if strings.HasSuffix(cause.Message, unchecked) {
			continue
		}
		lines = append(lines, strings.TrimPrefix(cause.Field+": "+cause.Message, ": "))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
