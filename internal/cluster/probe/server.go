package probe

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Answer is the answer of the server in a rollout.
type Answer struct {
	// Version is the version of the server. Empty means that the server has not reported it yet, or does not report it.
	Version string
	// Providers lists the providers, sorted by API and ID, without their settings. Nil means that the server has not
	// reported them yet, or does not report them.
	Providers []v1alpha2.ProviderInfo
	// Models lists the models. It is empty while the server does not list them.
	Models Models
	// MCPServers lists the MCP servers. It is empty while the server does not list them.
	MCPServers []v1alpha2.MCPServerStatus
	// Concluded reports whether the server has answered, or whether the prober has sent its last request in this rollout.
	// The health of providers can still change.
	Concluded bool
}

// server is the state of one server.
type server struct {
	target Target
	answer Answer
	// failed is the number of failed attempts since the last complete answer, or since the start of the rollout.
	failed int
	// done reports whether the prober sends no further requests to the server in this rollout.
	done bool
	// resting reports whether the prober sends no requests to the server because it has no serving pods.
	resting bool
}

// result is the outcome of an attempt.
type result struct {
	version   string
	providers []v1alpha2.ProviderInfo
	models    Models
	// mcpServers is nil if the prober did not request the MCP servers, or if the request failed and the prober may repeat
	// it.
	mcpServers []v1alpha2.MCPServerStatus
	// err is the error of the request for the version or the providers. modelsErr is the error of the request for the
	// models, and mcpErr is the error of the request for the MCP servers. The prober sends this request last.
	err, modelsErr, mcpErr error
}

// missed is the number of failed attempts after which the health of providers is unknown. A single failure is normal,
// because a server that is ingesting documents does not respond for a while.
const missed = 2

// update records the outcome of an attempt. It returns true if the answer has changed.
func (s *server) update(now result) bool {
	before := s.answer
	if now.version != "" {
		s.answer.Version = now.version
	}
	switch {
	case now.err == nil:
		s.answer.Concluded, s.answer.Providers = true, now.providers
		s.failed = s.updateLists(now)
		s.done = !reportsHealth(now.providers) && (s.failed == 0 || s.failed >= attempts)
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
		!slices.Equal(before.Providers, s.answer.Providers) || before.Models.LeftOut != s.answer.Models.LeftOut ||
		!slices.Equal(before.Models.Listed, s.answer.Models.Listed) ||
		!slices.Equal(before.MCPServers, s.answer.MCPServers)
}

// updateLists records the models and the MCP servers of a server that lists its providers. It returns the number of
// failed attempts since the last complete answer. After a final error, for example for an answer without a valid list,
// the list in question becomes empty. After any other error, that list does not change.
func (s *server) updateLists(now result) int {
	if now.mcpServers != nil { // MCP servers do not change within a rollout
		s.answer.MCPServers = now.mcpServers
	}
	if now.modelsErr == nil || isFinal(now.modelsErr) {
		s.answer.Models = now.models
	}
	for _, err := range []error{now.modelsErr, now.mcpErr} {
		if err != nil && !isFinal(err) {
			return s.failed + 1
		}
	}
	return 0
}
