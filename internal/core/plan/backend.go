package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// backend returns the values with which a Gateway verifies a server that uses HTTPS. It returns nil if no Gateway needs
// them, or if the Secret was not read. If a Gateway cannot verify the server, it returns nil and adds a warning.
func (p *Plan) backend(serving *cabundle.Serving) *render.Backend {
	if p.Exposure != render.HTTPRouteKind || !p.ServesTLS {
		return nil
	}
	secret := render.TLSSecret(&p.input.Stack.Spec)
	service := names.Service(p.input.Stack.Name)
	var remedy string
	switch {
	case !p.input.Cluster.BackendTLSPolicies:
		remedy = "the cluster does not serve version v1 of BackendTLSPolicy: ask an administrator to install Gateway API 1.4 or later"
	case secret == "":
		remedy = fmt.Sprintf("create a BackendTLSPolicy for Service %q with the certificate of the authority that "+
			"issued the server's certificate, and a host name that the server's certificate contains", service)
	case serving == nil:
		return nil // the Secret was not read
	default:
		inside := service + "." + p.input.Stack.Namespace + ".svc"
		wanted := []string{inside + ".cluster.local", inside, p.Hostname}
		made := &render.Backend{Hostname: serving.Hostname(wanted...), Authorities: serving.AuthoritiesPEM()}
		if remedy = unverifiable(serving, secret, made, wanted); remedy == "" {
			return made
		}
	}
	p.warn("spec.networking.expose", "the server uses HTTPS, but a Gateway connects to it over plain HTTP until a BackendTLSPolicy specifies "+
		"otherwise; %s", remedy)
	return nil
}

// unverifiable returns the reason why a client cannot verify the certificate in a Secret, with the remedy. It returns
// an empty string if clients can verify the certificate.
func unverifiable(serving *cabundle.Serving, secret string, made *render.Backend, wanted []string) string {
	key, problem := fmt.Sprintf("key %q of Secret %q", names.TLSAuthority, secret), serving.Problem
	switch {
	case problem != nil && problem.Line > 0:
		return fmt.Sprintf("%s contains something other than a certificate at line %d: store only the CA certificate in this key",
			key, problem.Line)
	case problem != nil:
		return fmt.Sprintf("%s %s", key, problem.Detail)
	case made.Authorities == nil && !serving.Public():
		return fmt.Sprintf("the authority that issued the server's certificate is unknown: add the key %q to Secret %q, with the CA certificate in PEM format "+
			"(for a self-signed certificate, the same certificate as in %q)", names.TLSAuthority, secret, names.TLSCertificate)
	case made.Hostname == "":
		return fmt.Sprintf("the certificate in Secret %q is not valid for any of the server's names: issue a certificate for %s", secret, oneOf(wanted))
	}
	return ""
}

// oneOf returns the non-empty names as a list for a message.
func oneOf(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
