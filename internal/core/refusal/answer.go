package refusal

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Invalid reports whether the API server's validation of fields is the only cause of an error. An admission policy or a
// webhook can cause the same status code, but an administrator can change them at any time.
func Invalid(err error) bool {
	type several interface {
		error
		Unwrap() []error
	}
	if all, are := errors.AsType[several](err); are {
		return !slices.ContainsFunc(all.Unwrap(), func(one error) bool { return !Invalid(one) })
	}
	answer, is := errors.AsType[*apierrors.StatusError](err)
	if !is || !apierrors.IsInvalid(answer) || answer.ErrStatus.Details == nil || Denied(answer) ||
		strings.Contains(answer.ErrStatus.Message, "denied request") {
		return false
	}
	return slices.ContainsFunc(answer.ErrStatus.Details.Causes,
		func(cause metav1.StatusCause) bool { return cause.Field != "" })
}

// Denied reports whether an admission webhook rejected the object. A webhook can respond with any status code,
// including the code for a conflict, but another attempt would not succeed.
func Denied(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		return false
	}
	message := answer.Status().Message
	return strings.HasPrefix(message, "admission webhook ") && strings.Contains(message, " denied the request")
}

// LacksPermission reports whether RBAC denies a request. A quota, a policy and a namespace that is being deleted cause
// the same status code, but their messages do not name the user.
func LacksPermission(err error) bool {
	message := err.Error()
	return apierrors.IsForbidden(err) && !Denied(err) &&
		strings.Contains(message, `User "`) && strings.Contains(message, `" cannot `)
}

// objectValue matches an object or list in a message about an invalid field: the internal form of the whole object,
// which the user did not write.
var objectValue = regexp.MustCompile(`Invalid value: [{\[].*?[}\]]: `)

// WithoutValues removes objects and lists from the API server's message about invalid fields.
func WithoutValues(message string) string { return objectValue.ReplaceAllString(message, "") }

const (
	invalidValue = "Invalid value: "
	// maxValue is the maximum length, in bytes, of a value that a message repeats. maxReason is that of a reason.
	maxValue  = 100
	maxReason = 1 << 10
)

// Reason returns the API server's answer without values that are objects, and without the comparison of two objects
// that can follow on further lines. It shortens a long answer.
func Reason(message string) string {
	message, _, _ = strings.Cut(WithoutValues(message), "\n")
	if len(message) > maxReason {
		message = strings.ToValidUTF8(message[:maxReason], "") + "…"
	}
	return message
}

// reasonOf returns the API server's message about one field. It removes a value that is an object, a list, or longer
// than maxValue, because the user knows the value, or did not write it.
func reasonOf(message string) string {
	rest, has := strings.CutPrefix(message, invalidValue)
	if !has {
		return Reason(message)
	}
	decoder := json.NewDecoder(strings.NewReader(rest))
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		// Older API servers print some values in the syntax of Go.
		if end := strings.LastIndex(rest, "}: "); end >= 0 {
			message = rest[end+len("}: "):]
		}
		return Reason(message)
	}
	reason, hasReason := strings.CutPrefix(rest[decoder.InputOffset():], ": ")
	if isObject := value[0] == '{' || value[0] == '['; hasReason && (isObject || len(value) > maxValue) {
		message = reason
	}
	return Reason(message)
}

// Answer returns the API server's message in an error without the name of the object, and as Reason returns it.
func Answer(err error) string {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		return err.Error()
	}
	message := Reason(answer.Status().Message)
	if _, reason, found := strings.Cut(message, ": "); found {
		return reason
	}
	return message
}

// Transient reports whether an error is temporary, because of a conflict, an outage, or a namespace that is being
// deleted.
func Transient(err error) bool {
	if Denied(err) {
		return false
	}
	return Unavailable(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// Unavailable reports whether a call failed because the API server is busy or unreachable, or because the context
// ended.
func Unavailable(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		var unreachable interface{ Timeout() bool } // net.Error, url.Error
		return errors.As(err, &unreachable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	}
	if Denied(err) {
		return false
	}
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err)
}

// Rejected reports whether the API server rejected an object with a client error, for example because of a quota, a
// policy, Pod Security, a webhook or an invalid field. It returns false for transient errors and for the status codes
// 401 and 404.
func Rejected(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) || Transient(err) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500 && code != 401 && code != 404
}
