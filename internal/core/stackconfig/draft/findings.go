package draft

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// These limits keep the report small. A configuration can contain as many mistakes as values, and the status has no
// room for all of them. A user can fix the first ones and generate the configuration again.
//
// maxFindings is the maximum number of errors, and of warnings of each kind, that one run reports.
const maxFindings = intent.MaxErrors

// tally counts findings, including those that are not reported.
type tally struct {
	count int
	// kind is the type of the errors that are not reported. It is NotFound only if all of them have that type.
	kind field.ErrorType
}

// full reports whether the limit is reached. If it is, the caller need not build a message.
func (t *tally) full() bool { return t.count >= maxFindings }

// more returns the number of findings that are not reported.
func (t *tally) more() int { return max(0, t.count-maxFindings) }

// Fail reports an error.
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

// Failf reports an error at a field.
func (d *Draft) Failf(path *field.Path, format string, args ...any) {
	d.Fail(field.Invalid(path, field.OmitValueType{}, fmt.Sprintf(format, args...)))
}

// Warn reports a warning, unless it has already reported the same warning.
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

// Warnf reports a warning at a field.
func (d *Draft) Warnf(path *field.Path, format string, args ...any) {
	d.Warn(Finding{Path: path.String(), Message: fmt.Sprintf(format, args...)})
}

// Ignoredf reports a warning about a part of the user's configuration that has no effect.
func (d *Draft) Ignoredf(path *field.Path, format string, args ...any) {
	d.Warn(Finding{Path: path.String(), Message: fmt.Sprintf(format, args...), Ignored: true})
}

// countRest appends the number of unreported findings to the lists of findings.
func (d *Draft) countRest() {
	if more := d.errors.more(); more > 0 {
		d.report.Errors = append(d.report.Errors, &field.Error{
			Type: d.errors.kind, BadValue: field.OmitValueType{}, Detail: fmt.Sprintf("and %d more", more),
		})
	}
	for _, sort := range []struct {
		tally
		ignored bool
	}{{d.warnings, false}, {d.ignorances, true}} {
		if more := sort.more(); more > 0 {
			d.report.Warnings = append(d.report.Warnings, Finding{
				Message: fmt.Sprintf("and %d more", more),
				Ignored: sort.ignored,
			})
		}
	}
}

// ErrorsFull reports whether the error limit is reached. If it is, the caller need not build a message.
func (d *Draft) ErrorsFull() bool { return d.errors.full() }

// WarningsFull reports whether the warning limit is reached.
func (d *Draft) WarningsFull() bool { return d.warnings.full() }

// CountWarning counts a warning without a message.
func (d *Draft) CountWarning() { d.warnings.count++ }

// ErrorCount returns the number of errors, including those that are not reported.
func (d *Draft) ErrorCount() int { return d.errors.count }
