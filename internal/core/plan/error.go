package plan

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
)

// ConfigError is the error for a stack that has no plan until its input changes. Its message is for the user.
type ConfigError struct {
	// Condition is the type of the condition that is False, and Reason is the reason of the condition.
	Condition, Reason string
	// Errors lists the errors in fields of the spec. Empty means that no field is the cause.
	Errors field.ErrorList
	// Err is the cause if no field is the cause.
	Err error
	// Warnings lists warnings that were found together with the errors.
	Warnings []stackconfig.Finding
}

// Error returns the messages of the fields, one per line, or the message of the cause.
func (e *ConfigError) Error() string {
	if len(e.Errors) > 0 {
		return intent.Messages(e.Errors)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

func invalidSpec(errs field.ErrorList) error {
	return &ConfigError{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonInvalidSpec, Errors: intent.Bounded(errs),
	}
}

func notGenerated(reason string, err error) error {
	return &ConfigError{Condition: v1alpha2.ConditionConfigGenerated, Reason: reason, Err: err}
}

// missingBase returns the error for a distribution without a known configuration.
func missingBase(image string) error {
	return notGenerated(v1alpha2.ReasonMissingConfigLabels, fmt.Errorf("Distribution image %s missing config labels. "+ //nolint:staticcheck // the sentence is a contract with users
		"Add labels using `crane mutate` or use `overrideConfig` to provide configuration manually. "+
		"See docs/configuration.md for details.", image))
}

func badBase(err error) error {
	if _, unsupported := errors.AsType[*baseconfig.UnsupportedVersionError](err); unsupported {
		return notGenerated(v1alpha2.ReasonUnsupportedConfigVersion, err)
	}
	return notGenerated(v1alpha2.ReasonConfigGenerationFailed, err)
}

// refused returns the error that reports the engine's errors. In an upgrade, in which the release line of the running
// server differs from that of the spec, the reason is different, because the remedy is different. The reason is also
// different if all errors are about missing providers.
func refused(in Input, report *stackconfig.Report) error {
	reason, running := v1alpha2.ReasonConfigGenerationFailed, in.Running.Record.Distribution.Release
	switch {
	case running != "" && running != in.Distribution.Release.Line:
		reason = v1alpha2.ReasonUpgradeConfigFailure
	case onlyMissingProviders(report.Errors):
		reason = v1alpha2.ReasonMissingProviderForResource
	}
	return &ConfigError{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: reason, Errors: report.Errors, Warnings: report.Warnings,
	}
}

func onlyMissingProviders(errs field.ErrorList) bool {
	for _, err := range errs {
		if err.Type != field.ErrorTypeNotFound {
			return false
		}
	}
	return true
}
