package probe

import (
	"regexp"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// health returns the health that a server reports for a provider. The message is the operator's own, because the
// server's messages contain addresses and credentials.
func health(status, message string) v1alpha2.ProviderHealthStatus {
	switch status {
	case v1alpha2.ProviderHealthOK:
		return v1alpha2.ProviderHealthStatus{Status: status}
	case v1alpha2.ProviderHealthNotImplemented:
		return v1alpha2.ProviderHealthStatus{Status: status, Message: notImplemented}
	case v1alpha2.ProviderHealthError:
		message = Problem(message) + "; read the server's log for details"
		return v1alpha2.ProviderHealthStatus{Status: status, Message: message}
	default:
		return v1alpha2.ProviderHealthStatus{Status: v1alpha2.ProviderHealthUnknown}
	}
}

// notImplemented is the message that every server returns for a provider without a health check. Programs that read the
// v1alpha1 status expect it, because the previous operator copied it.
const notImplemented = "Provider does not implement health check"

// code matches the text before a status code in the messages of the libraries that providers use: "Error code: 401",
// "Client error '404 Not Found' for url …", "Server error '503 …".
const code = `(?i)\b(error|status)( code)?:? '?`

// problems maps patterns in the providers' own messages to the operator's messages.
var problems = []struct {
	pattern *regexp.Regexp
	message string
}{
	{regexp.MustCompile(code + `40[13]\b`), "The provider's service rejects the credentials"},
	{regexp.MustCompile(code + `404\b`), "The provider's service has nothing at the configured address"},
	{regexp.MustCompile(code + `429\b`), "The provider's service receives too many requests"},
	{regexp.MustCompile(code + `4\d\d\b`), "The provider's service rejects the request"},
	{regexp.MustCompile(code + `5\d\d\b`), "The provider's service reports an internal error"},
	{regexp.MustCompile(`(?i)time(d )?[- ]?out`), "The provider's service does not respond in time"},
	{regexp.MustCompile(`(?i)connection|connect\b|resolution|unreachable|not known`), "The provider's service cannot be reached"},
}

// Problem returns one of the operator's own messages in place of a provider's error message, because the provider's
// message can contain credentials.
func Problem(message string) string {
	for _, known := range problems {
		if known.pattern.MatchString(message) {
			return known.message
		}
	}
	return "The provider reports an error"
}

// reportsHealth reports whether a server checks the health of at least one of its providers. The servers of most
// releases do not check any provider (server fact 36), and their response remains the same until the next rollout.
func reportsHealth(providers []v1alpha2.ProviderInfo) bool {
	return slices.ContainsFunc(providers, func(p v1alpha2.ProviderInfo) bool {
		return p.Health.Status != v1alpha2.ProviderHealthNotImplemented
	})
}

// unknown returns the list with the health of checked providers set to unknown.
func unknown(providers []v1alpha2.ProviderInfo) []v1alpha2.ProviderInfo {
	list := slices.Clone(providers)
	for i := range list {
		if list[i].Health.Status != v1alpha2.ProviderHealthNotImplemented {
			list[i].Health = v1alpha2.ProviderHealthStatus{
				Status: v1alpha2.ProviderHealthUnknown, Message: "The server has not responded for a while",
			}
		}
	}
	return list
}
