package validate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// workersWithoutCPU warns about a CPU limit that is too low for the workers. uvicorn, which runs the workers of every
// release, stops a worker that does not respond within five seconds and starts another one. A worker responds only
// after it has imported the server, which takes three seconds of CPU time in release 0.7 and four in 1.5. With less
// than one CPU for each worker, the server might never become ready (server fact 31).
func workersWithoutCPU(c *checks) []string {
	workers := c.workload().Workers
	if workers == nil || *workers < 2 || c.workload().Resources == nil || len(c.overrides().Command) > 0 {
		return nil
	}
	limit, limited := c.workload().Resources.Limits[corev1.ResourceCPU]
	enough := resource.NewQuantity(int64(*workers), resource.DecimalSI)
	if !limited || limit.Cmp(*enough) >= 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %q is less than one CPU for each of %d workers, and the server stops a worker that takes more "+
		"than 5 s to start, so the server might never become ready; raise the limit to %q or remove it",
		spec("workload", "resources", "limits").Key(string(corev1.ResourceCPU)), limit.String(), *workers, enough.String())}
}
