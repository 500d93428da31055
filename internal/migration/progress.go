package migration

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

const (
	// maxFailures is how many objects that could not be written are kept by name, maxReason how many bytes of why.
	maxFailures = 20
	maxReason   = 256
	// Progress is told after so many objects, or so much time.
	reportObjects = 100
	reportTime    = 10 * time.Second
)

// Progress counts the objects of a run.
type Progress struct {
	// Version is the one that the objects shall be stored in.
	Version string
	// Objects is how many there are. Migrated are stored in that version, or gone; Rewritten are those of them that the
	// run wrote. Failed could not be written.
	Objects, Migrated, Rewritten, Failed int
}

// Pending is how many objects are to be looked at.
func (p Progress) Pending() int { return p.Objects - p.Migrated - p.Failed }

// Result is what a run came to.
type Result struct {
	Progress
	// Before are the stored versions of the definition when the run began.
	Before []string
	// Failures are the first 20 of the objects that could not be written.
	Failures []Failure
	// Complete reports that the storage version is the only one that is stored.
	Complete bool
}

// Failure is an object that could not be written.
type Failure struct {
	Name types.NamespacedName
	// Reason is what the API server says, 256 bytes of it.
	Reason string
}

// String is for people.
func (f Failure) String() string { return f.Name.String() + ": " + f.Reason }

// FailedObjects names the objects that could not be written, and says how many more there are.
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

// Sparsely calls report with the first progress of a run, then every 100 objects or 10 seconds, and with the last.
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
