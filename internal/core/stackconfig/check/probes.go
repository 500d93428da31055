package check

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/expression"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// probes reports settings with which the server rejects the probes of its pod, because probes have no token. It skips
// stacks with the user's own probes, because the requests of such probes are unknown.
func (c *checker) probes() {
	if c.Intent.Container.ReadinessProbe {
		return
	}
	c.routePolicy()
	c.quota()
}

// routePolicy reports rules that do not permit the path of the probes (server fact 73).
func (c *checker) routePolicy() {
	const path = "server.auth.route_policy"
	rules := yamlnode.Items(yamlnode.At(c.Root, "server", "auth", "route_policy"))
	if len(rules) == 0 || !c.Release.TopLevel.HasPath(path) {
		return
	}
	if permitted, known := permits(rules, release.HealthPath); known && !permitted {
		c.failAt(path, func() string {
			return fmt.Sprintf("the rules do not permit %s without a token, so the server rejects the probes and is never ready; "+
				"begin the list with {permit: {paths: %s}}", release.HealthPath, release.HealthPath)
		})
	}
}

// permits reports whether the rules permit a path without a token. The result `known` is false if a rule's pattern
// cannot be evaluated.
func permits(rules []*yaml.Node, path string) (permitted, known bool) {
	for _, rule := range rules {
		if !yamlnode.IsNull(yamlnode.Get(rule, "when")) || !yamlnode.IsNull(yamlnode.Get(rule, "unless")) {
			continue // a condition applies only to a client with a token
		}
		scope := yamlnode.Get(rule, "permit")
		permit := !yamlnode.IsNull(scope)
		if !permit {
			scope = yamlnode.Get(rule, "forbid")
		}
		paths := yamlnode.Get(scope, "paths")
		patterns := yamlnode.Items(paths)
		if paths != nil && paths.Kind == yaml.ScalarNode {
			patterns = []*yaml.Node{paths}
		}
		for _, pattern := range patterns {
			matches, known := matchesRoute(pattern.Value, path)
			if !known {
				return false, false
			}
			if matches {
				return permit, true
			}
		}
	}
	return false, true
}

// matchesRoute reports whether a path matches a rule's pattern in the server. The second result, `known`, is false for
// a pattern that contains a variable, and for a regular expression that package expression does not compile.
func matchesRoute(pattern, path string) (matches, known bool) {
	if envref.In(pattern) {
		return false, false
	}
	if text, ok := strings.CutPrefix(pattern, "regex:"); ok {
		compiled, ok := expression.Compile("^(?:" + text + ")")
		return ok && compiled.MatchString(path), ok
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(path, prefix), true
	}
	return pattern == path, true
}

// probesPerDay is the number of readiness probes that a pod receives in a day.
const probesPerDay = 24 * 60 * 60 / release.ReadinessPeriod

// defaultAnonymousRequests is the number of requests per day that the server accepts from each address. The server uses
// it if the quota does not set a number (server fact 74).
const defaultAnonymousRequests = 100

// quota warns about a quota that the probes exhaust. The server counts probes in the same way as a client's requests
// (server fact 74).
func (c *checker) quota() {
	path := "server.quota"
	quota := yamlnode.At(c.Root, "server", "quota")
	if !c.Release.TopLevel.HasPath(path) || yamlnode.IsNull(quota) {
		return
	}
	limit := defaultAnonymousRequests
	if text := yamlnode.Text(quota, "anonymous_max_requests"); text != "" {
		static, condition := envref.Static(text)
		number, err := strconv.Atoi(static)
		if err != nil || condition != "" {
			return
		}
		limit, path = number, path+".anonymous_max_requests"
	}
	if limit > probesPerDay {
		return
	}
	c.warnAt(path, fmt.Sprintf("the quota also counts the readiness probes, %d per day: after %d probes, the server rejects the rest, and the pod receives no requests until the next day; "+
		"set anonymous_max_requests above %d, or limit requests at the Ingress", probesPerDay, limit, probesPerDay))
}

// introspection warns about an endpoint whose certificate the server does not verify (server fact 75).
func (c *checker) introspection() {
	const path = "server.auth.provider_config"
	provider := yamlnode.At(c.Root, "server", "auth", "provider_config")
	url := yamlnode.Text(yamlnode.Get(provider, "introspection"), "url")
	if c.Release.Runtime.IntrospectionUnverified && strings.HasPrefix(url, "https:") &&
		yamlnode.Text(provider, "tls_cafile") == "" {
		c.warnAt(path+".introspection", fmt.Sprintf("server release %s does not verify the certificate of this endpoint unless "+
			"tls_cafile is set, so a host that impersonates the endpoint can accept any token; set spec.networking.tls.caBundle, and set "+
			"tls_cafile to the path of this bundle in the pod, /etc/ssl/certs/ca-bundle/ca-bundle.crt", c.Release.Line))
	}
}

// warnAt reports a warning at a place in the configuration and, if a field wrote the value at that place, also at the
// field.
func (c *checker) warnAt(path, message string) {
	finding := draft.Finding{ConfigPath: path, Message: message}
	if origin := c.OriginAt(path); origin.Path != nil {
		finding.Path = origin.Path.String()
	}
	c.Warn(finding)
}
