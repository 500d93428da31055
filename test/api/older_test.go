package api

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// tellsTypesAlone reports whether the API server's messages contain only the type of a rejected value, as in Kubernetes
// 1.34. The messages of later versions contain the value, even if the API server emulates an older version.
func tellsTypesAlone(t *testing.T) bool {
	t.Helper()
	asked, err := discovery.NewDiscoveryClientForConfig(plane.Config)
	testutil.Must(t, err)
	said, err := asked.ServerVersion()
	testutil.Must(t, err)
	return version.MustParseGeneric(said.GitVersion).LessThan(version.MustParseGeneric("1.35.0"))
}

// refusedType matches a line that contains only the type of a rejected value.
var refusedType = regexp.MustCompile(`^(.*: Invalid value: )"(?:string|object|array|integer|number|boolean)"(: .*)$`)

// withValues changes lines that contain only the type of a value. It replaces each of them with the line in `want` that
// has the same field and message, and that contains the value. A line without a counterpart in `want` is unchanged.
func withValues(got, want []string) []string {
	var lines []string
	for _, line := range got {
		if parts := refusedType.FindStringSubmatch(line); parts != nil {
			i := slices.IndexFunc(want, func(wanted string) bool {
				return strings.HasPrefix(wanted, parts[1]) && strings.HasSuffix(wanted, parts[2])
			})
			if i >= 0 {
				line = want[i]
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
