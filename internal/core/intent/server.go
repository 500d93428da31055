package intent

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// The server accepts the ports from minPort to maxPort.
const (
	minPort = 1024
	maxPort = 65535
)

var variablePattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

func decodeServer(obj *v1alpha2.LlamaStackDistribution, path *field.Path, errs *Errors) Server {
	spec := &obj.Spec
	server := Server{
		Port:        v1alpha2.DefaultPort,
		PortPath:    path.Child("networking", "port"),
		WorkersPath: path.Child("workload", "workers"),
	}
	if spec.Networking != nil && spec.Networking.Port != 0 {
		server.Port = spec.Networking.Port
	}
	if least := leastPort(obj); server.Port < least || server.Port > maxPort {
		errs.Invalid(server.PortPath, server.Port, "%d is not a port that the server accepts; use a port between %d and %d", server.Port, least, maxPort)
	}
	if spec.Workload != nil && spec.Workload.Workers != nil {
		server.Workers = *spec.Workload.Workers
		if server.Workers < 1 {
			errs.Invalid(server.WorkersPath, server.Workers, "%d is not a valid number of server processes; use 1 or more", server.Workers)
		}
	}
	server.TLS = decodeTLS(spec.Networking, path.Child("networking", "tls", "secretName"), errs)
	return server
}

// leastPort returns the lowest valid port. A server with a generated configuration rejects ports below minPort, on
// which only root can listen. A v1alpha1 stack without a generated configuration can have a command that listens on
// such a port.
func leastPort(obj *v1alpha2.LlamaStackDistribution) int32 {
	spec := &obj.Spec
	if profile.Of(obj.Annotations).AnyPort && spec.Providers == nil && spec.Resources == nil && spec.Storage == nil {
		return 1
	}
	return minPort
}

func decodeTLS(networking *v1alpha2.NetworkingSpec, path *field.Path, errs *Errors) *TLS {
	switch {
	case networking == nil || networking.TLS == nil || !networking.TLS.Enabled:
		return nil
	case networking.TLS.SecretName == "":
		errs.Required(path, "required when tls is enabled: set the name of a Secret of type kubernetes.io/tls")
		return nil
	}
	return &TLS{SecretName: networking.TLS.SecretName, Path: path}
}

func decodeDisabled(written []string, path *field.Path, errs *Errors) []Disabled {
	if written != nil && len(written) == 0 {
		errs.Empty(path)
	}
	var disabled []Disabled
	for i, text := range written {
		api, provider, one := strings.Cut(text, "/")
		switch {
		case api == "" || (one && (provider == "" || strings.Contains(provider, "/"))):
			errs.InvalidText(path.Index(i), text, "is not an API or a provider: write an API such as postTraining, or a provider such as inference/groq")
			continue
		case strings.Contains(api, Wildcard) || provider != Wildcard && strings.Contains(provider, Wildcard):
			errs.InvalidText(path.Index(i), text, "has \"*\" in the wrong place; write an API and \"/*\", such as inference/*, "+
				"or set spec.distribution.baseProviders to Required")
			continue
		}
		if !slices.ContainsFunc(disabled, func(d Disabled) bool { return d.API == api && d.Provider == provider }) {
			disabled = append(disabled, Disabled{API: api, Provider: provider, Path: path.Index(i)})
		}
	}
	return disabled
}

func decodeSecretEnv(written map[string]v1alpha2.SecretReference, path *field.Path, errs *Errors) []Variable {
	var variables []Variable
	for _, name := range slices.Sorted(maps.Keys(written)) {
		entry := path.Key(name)
		switch {
		case !variablePattern.MatchString(name):
			errs.InvalidText(entry, name, "is not a valid variable name: use uppercase letters, digits and '_', and begin with a letter")
		case strings.HasPrefix(name, names.EnvPrefix):
			errs.InvalidText(entry, name, "begins with %s, which is reserved for the operator's variables: use another name", names.EnvPrefix)
		}
		ref := written[name]
		if secret := Secret(&ref, entry, errs); secret != nil {
			variables = append(variables, Variable{Name: name, SecretRef: *secret})
		}
	}
	return variables
}

// variables returns the names of the variables that the user sets on the container to a non-empty value.
func variables(env []corev1.EnvVar) []string {
	var set []string
	for _, env := range env {
		if env.Value != "" || env.ValueFrom != nil {
			set = append(set, env.Name)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}
