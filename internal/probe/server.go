package probe

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Answer is what the server of a roll-out said.
type Answer struct {
	// Version of the server. Empty: it has not told yet, or does not.
	Version string
	// Providers by API and id, without their settings. Nil: it has not told yet, or
	// does not.
	Providers []v1alpha2.ProviderInfo
	// Concluded says that there is nothing to wait for: it answered, or will not.
	Concluded bool
}

// server is what is known of one.
type server struct {
	target Target
	answer Answer
	// failed attempts since it answered last, or since the roll-out.
	failed int
	// done: it will not be asked again for this roll-out.
	done bool
	// resting: it will not be asked while it has no pods that serve.
	resting bool
}

// result is the outcome of an attempt.
type result struct {
	version   string
	providers []v1alpha2.ProviderInfo
	err       error
}

// missed attempts make the health of providers unknown. One is no sign: a server
// that takes in documents answers nobody for a while.
const missed = 2

// update notes the outcome of an attempt; true when it is news.
func (s *server) update(now result) bool {
	before := s.answer
	if now.version != "" {
		s.answer.Version = now.version
	}
	switch {
	case now.err == nil:
		s.failed, s.answer.Concluded, s.answer.Providers = 0, true, now.providers
		s.done = !reportsHealth(now.providers)
	case s.answer.Providers != nil:
		if s.failed++; s.failed >= missed {
			s.answer.Providers = unknown(s.answer.Providers)
		}
	default:
		s.failed++
		s.done = isFinal(now.err) || s.failed >= attempts
		s.answer.Concluded = s.done
	}
	return before.Version != s.answer.Version || before.Concluded != s.answer.Concluded ||
		!slices.Equal(before.Providers, s.answer.Providers)
}
