package probe

import (
	"regexp"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// health is what a server reports of a provider, in a message of ours: its own quote
// addresses and credentials.
func health(status, message string) v1alpha2.ProviderHealthStatus {
	switch status {
	case v1alpha2.ProviderHealthOK:
		return v1alpha2.ProviderHealthStatus{Status: status}
	case v1alpha2.ProviderHealthNotImplemented:
		return v1alpha2.ProviderHealthStatus{Status: status, Message: notImplemented}
	case v1alpha2.ProviderHealthError:
		return v1alpha2.ProviderHealthStatus{Status: status, Message: problem(message) + "; the server's log has the details"}
	default:
		return v1alpha2.ProviderHealthStatus{Status: v1alpha2.ProviderHealthUnknown}
	}
}

// notImplemented is what every server says of a provider that it does not check. Programs that read the status of v1alpha1
// expect it: the operator before passed it on.
const notImplemented = "Provider does not implement health check"

// code begins a status in the messages of the libraries that providers use: "Error
// code: 401", "Client error '404 Not Found' for url …", "Server error '503 …".
const code = `(?i)\b(error|status)( code)?:? '?`

// problems are what the providers' own messages are known by.
var problems = []struct {
	pattern *regexp.Regexp
	message string
}{
	{regexp.MustCompile(code + `40[13]\b`), "The provider's service refuses the credentials"},
	{regexp.MustCompile(code + `404\b`), "The provider's service has nothing at the address it is asked at"},
	{regexp.MustCompile(code + `429\b`), "The provider's service is asked too often"},
	{regexp.MustCompile(code + `4\d\d\b`), "The provider's service refuses the request"},
	{regexp.MustCompile(code + `5\d\d\b`), "The provider's service has a problem"},
	{regexp.MustCompile(`(?i)time(d )?[- ]?out`), "The provider's service does not answer in time"},
	{regexp.MustCompile(`(?i)connection|connect\b|resolution|unreachable|not known`), "The provider's service cannot be reached"},
}

func problem(message string) string {
	for _, known := range problems {
		if known.pattern.MatchString(message) {
			return known.message
		}
	}
	return "The provider reports an error"
}

// reportsHealth reports whether a server checks at least one of its providers. Most
// releases do not, and what they say is the same until the next roll-out.
func reportsHealth(providers []v1alpha2.ProviderInfo) bool {
	return slices.ContainsFunc(providers, func(p v1alpha2.ProviderInfo) bool {
		return p.Health.Status != v1alpha2.ProviderHealthNotImplemented
	})
}

// unknown is the list without what it says of health.
func unknown(providers []v1alpha2.ProviderInfo) []v1alpha2.ProviderInfo {
	list := slices.Clone(providers)
	for i := range list {
		if list[i].Health.Status != v1alpha2.ProviderHealthNotImplemented {
			list[i].Health = v1alpha2.ProviderHealthStatus{
				Status: v1alpha2.ProviderHealthUnknown, Message: "The server has not answered for a while",
			}
		}
	}
	return list
}
