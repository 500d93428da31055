package migration

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

const (
	// maxFailures bounds the failed objects that are kept by name. maxReason bounds the bytes of each reason.
	maxFailures = 20
	maxReason   = 256
	// Progress is reported after this number of objects, or after this time.
	reportObjects = 100
	reportTime    = 10 * time.Second
)

// Progress counts the objects of a run.
type Progress struct {
	// Version is the version to store objects in.
	Version string
	// Objects is the number of objects. Migrated objects are stored in that version, or deleted. Rewritten counts the
	// migrated objects that the run wrote. Failed counts the objects that could not be written.
	Objects, Migrated, Rewritten, Failed int
}

// Pending returns the number of remaining objects.
func (p Progress) Pending() int { return p.Objects - p.Migrated - p.Failed }

// Result is the result of a run.
type Result struct {
	Progress
	// Before lists the stored versions of the definition when the run began.
	Before []string
	// Failures lists the first 20 objects that could not be written.
	Failures []Failure
	// Complete reports whether the storage version is the only stored version.
	Complete bool
}

// Failure is an object that could not be written.
type Failure struct {
	Name types.NamespacedName
	// Reason is the API server's message, up to 256 bytes.
	Reason string
}

// String returns the failure in readable form.
func (f Failure) String() string { return f.Name.String() + ": " + f.Reason }

// FailedObjects lists the objects that could not be written, and the number of any others.
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

func (r *Result) fail(name types.NamespacedName, err error) {
	r.Failed++
	if len(r.Failures) < maxFailures {
		r.Failures = append(r.Failures, Failure{Name: name, Reason: status.Shorten(err.Error(), maxReason)})
	}
}

// Sparsely returns an observer that calls report with the first progress of a run, then every 100 objects or 10
// seconds, and with the last.
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
