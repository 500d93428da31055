package draft

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
)

// A configuration may have as many mistakes as it has values. A user mends the first
// ones and looks again, and a status holds no more.
const (
	// maxFindings is how many errors, and how many warnings of each sort, one run tells.
	maxFindings = intent.MaxErrors
	// maxListed is how many names a message lists.
	maxListed = 20
)

// tally counts what is told and what is only counted.
type tally struct {
	count int
	// kind is the type of the errors that are not told: NotFound when all of them are.
	kind field.ErrorType
}

// full reports whether no more is told, so that a message need not be made.
func (t *tally) full() bool { return t.count >= maxFindings }

// more is how many are not told.
func (t *tally) more() int { return max(0, t.count-maxFindings) }

// Fail tells an error.
func (d *Draft) Fail(err *field.Error) {
	if d.errors.full() {
		if d.errors.kind == "" || err.Type != field.ErrorTypeNotFound {
			d.errors.kind = err.Type
		}
	} else {
		d.report.Errors = append(d.report.Errors, err)
	}
	d.errors.count++
}

// Failf tells an error of a field.
func (d *Draft) Failf(path *field.Path, format string, args ...any) {
	d.Fail(field.Invalid(path, field.OmitValueType{}, fmt.Sprintf(format, args...)))
}

// Warn tells a finding once.
func (d *Draft) Warn(finding Finding) {
	if d.warned[finding] {
		return
	}
	if d.warned == nil {
		d.warned = make(map[Finding]bool)
	}
	d.warned[finding] = true
	sort := &d.warnings
	if finding.Ignored {
		sort = &d.ignorances
	}
	if !sort.full() {
		d.report.Warnings = append(d.report.Warnings, finding)
	}
	sort.count++
}

// Warnf tells a warning of a field.
func (d *Draft) Warnf(path *field.Path, format string, args ...any) {
	d.Warn(Finding{Path: path.String(), Message: fmt.Sprintf(format, args...)})
}

// Ignoredf is a warning that something the user configured has no effect.
func (d *Draft) Ignoredf(path *field.Path, format string, args ...any) {
	d.Warn(Finding{Path: path.String(), Message: fmt.Sprintf(format, args...), Ignored: true})
}

// countRest ends the lists of findings with the number of those that are not told.
func (d *Draft) countRest() {
	if more := d.errors.more(); more > 0 {
		d.report.Errors = append(d.report.Errors, &field.Error{
			Type: d.errors.kind, BadValue: field.OmitValueType{}, Detail: fmt.Sprintf("and %d more errors", more),
		})
	}
	for _, sort := range []struct {
		tally
		ignored bool
	}{{d.warnings, false}, {d.ignorances, true}} {
		if more := sort.more(); more > 0 {
			d.report.Warnings = append(d.report.Warnings, Finding{Message: fmt.Sprintf("and %d more warnings", more), Ignored: sort.ignored})
		}
	}
}

// Listed joins names for a message.
func Listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// ErrorsFull reports whether no more errors are told, so that a message need not be made.
func (d *Draft) ErrorsFull() bool { return d.errors.full() }

// WarningsFull is the same for warnings.
func (d *Draft) WarningsFull() bool { return d.warnings.full() }

// CountWarning counts a warning whose message is not made.
func (d *Draft) CountWarning() { d.warnings.count++ }

// ErrorCount is how many errors there are, told or not.
func (d *Draft) ErrorCount() int { return d.errors.count }
