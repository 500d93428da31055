package manager

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
)

func TestOpenShift(t *testing.T) {
	served := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: facts.Constraints.Group, Version: "v1"}})
	served.Add(facts.Constraints, meta.RESTScopeRoot)
	unreachable := errors.New("connection refused")
	for name, tc := range map[string]struct {
		mapper meta.RESTMapper
		want   bool
		err    error
	}{
		"served":      {mapper: served, want: true},
		"not served":  {mapper: meta.NewDefaultRESTMapper(nil)},
		"unreachable": {mapper: brokenMapper{err: unreachable}, err: unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := openShift(tc.mapper)
			if got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%v, %v; want %v, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

// brokenMapper returns an error as if the API server could not be reached.
type brokenMapper struct {
	meta.RESTMapper
	err error
}

func (m brokenMapper) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return nil, m.err
}
