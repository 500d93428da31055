package migration

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

const (
	// maxFailures is the maximum number of failed objects in a result. maxReason is the maximum size of a reason in bytes.
	maxFailures = 20
	maxReason   = 256
	// An observer from Sparsely calls `report` after this number of objects, or after this time.
	reportObjects = 100
	reportTime    = 10 * time.Second
)

// Progress counts the objects of a run.
type Progress struct {
	// Version is the version in which the run stores objects.
	Version string
	// Objects is the total number of objects. Migrated counts the objects that are stored in Version or were deleted.
	// Rewritten counts the migrated objects that the run wrote. Failed counts the objects that could not be written.
	Objects, Migrated, Rewritten, Failed int
}

// Pending returns the number of remaining objects.
func (p Progress) Pending() int { return p.Objects - p.Migrated - p.Failed }

// Result is the result of a run.
type Result struct {
	Progress
	// Before lists the stored versions of the definition at the beginning of the run.
	Before []string
	// Failures lists the first 20 objects that could not be written.
	Failures []Failure
	// Complete reports whether the storage version is the only stored version.
	Complete bool
}

// Failure is an object that could not be written.
type Failure struct {
	Name types.NamespacedName
	// Reason is the API server's message, cut to 256 bytes.
	Reason string
}

// String returns the name and the reason.
func (f Failure) String() string { return f.Name.String() + ": " + f.Reason }

// FailedObjects returns a string for each object in Failures, and a string with the number of other failed objects.
func (r *Result) FailedObjects() []string {
	texts := make([]string, 0, len(r.Failures)+1)
	for _, failure := range r.Failures {
		texts = append(texts, failure.String())
	}
	if more := r.Failed - len(r.Failures); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return texts
}

// count counts an object after a request that returned err. A deleted object needs no migration.
func (r *Result) count(name types.NamespacedName, err error) {
	if err == nil || apierrors.IsNotFound(err) {
		r.Migrated++
		return
	}
	r.Failed++
	if len(r.Failures) < maxFailures {
		r.Failures = append(r.Failures, Failure{Name: name, Reason: status.Shorten(err.Error(), maxReason)})
	}
}

// Sparsely returns an observer that calls `report` with the first progress of a run, then after every 100 objects or 10
// seconds, and with the last progress.
func Sparsely(report func(Progress)) func(Progress) {
	var told int
	var at time.Time
	return func(now Progress) {
		done := now.Migrated + now.Failed
		if done > 0 && now.Pending() > 0 && done-told < reportObjects && time.Since(at) < reportTime {
			return
		}
		told, at = done, time.Now()
		report(now)
	}
}
