package corpus

import (
	"errors"
	"fmt"
	"strings"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

// Outcome is the result of the pipeline for a case.
type Outcome struct {
	// Config is the server's configuration. It is empty if the pipeline rejects the case, or if the server uses the
	// configuration in its image.
	Config []byte
	// Env is the environment of the server's container, including the values of Secrets.
	Env map[string]string
	// Command is the command that updates the registry: the command of the init container for the registry, or, if
	// there is none, the command of the server's container.
	Command []string
	// Warnings are shown to the user.
	Warnings []stackconfig.Finding
	// Refused is the message that rejects the case. It is empty if the case is accepted.
	Refused string
}

// Canary is part of every value of a Secret, so that a test can find these values in places where they must not appear.
const Canary = "s3cret"

// Run runs the pipeline of the controller for a case. If the pipeline rejects the case, Run returns an Outcome with
// Refused and no error.
func (c *Case) Run() (*Outcome, error) {
	in, _, errs := validate.Spec(c.Object)
	if len(errs) > 0 {
		return &Outcome{Refused: intent.Messages(errs)}, nil
	}
	source := v1alpha2.ConfigSourceConfigMap
	if c.Embedded {
		source = v1alpha2.ConfigSourceEmbedded
	}
	built, err := plan.Build(plan.Input{
		Object: c.Object, Intent: in, Distribution: c.resolved(), Base: &plan.Base{Data: c.Base, Source: source},
	})
	if refused, ok := errors.AsType[*plan.ConfigError](err); ok {
		return &Outcome{Refused: refused.Error(), Warnings: refused.Warnings}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("plan case %q of %s: %w", c.Name, c.Release.Line, err)
	}
	outcome := &Outcome{Config: built.Config, Warnings: built.Warnings}
	if outcome.Env, err = c.environment(built); err != nil {
		return nil, fmt.Errorf("determine the environment of case %q of %s: %w", c.Name, c.Release.Line, err)
	}
	outcome.Command = commandOf(built)
	return outcome, nil
}

// environment returns the environment of the server's container in the rendered Deployment.
func (c *Case) environment(built *plan.Plan) (map[string]string, error) {
	derived := make(map[string]string, len(built.Derived))
	for _, entry := range built.Derived {
		value, err := secretvalue.Derive(entry.Part, c.secret(entry.Secret, entry.SecretKey))
		if err != nil {
			return nil, fmt.Errorf("derive %q: %w", entry.Key, err)
		}
		derived[entry.Key] = value
	}
	env := map[string]string{}
	for _, object := range built.Objects {
		deployment, ok := object.Apply.(*appsv1ac.DeploymentApplyConfiguration)
		if !ok {
			continue
		}
		for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
			switch {
			case variable.Value != nil:
				env[*variable.Name] = *variable.Value
			case variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil:
				source := variable.ValueFrom.SecretKeyRef
				value, own := derived[*source.Key]
				if !own || *source.Name != names.StorageSecret(stackName) {
					value = c.secret(*source.Name, *source.Key)
				}
				env[*variable.Name] = value
			}
		}
	}
	return env, nil
}

// commandOf returns the command of the container that updates the registry, or nil if there is no Deployment.
func commandOf(built *plan.Plan) []string {
	for _, object := range built.Objects {
		deployment, ok := object.Apply.(*appsv1ac.DeploymentApplyConfiguration)
		if !ok {
			continue
		}
		for _, container := range deployment.Spec.Template.Spec.InitContainers {
			if *container.Name == names.RegistryContainer {
				return container.Command
			}
		}
		return deployment.Spec.Template.Spec.Containers[0].Command
	}
	return nil
}

// These are the names of the Secrets whose values are connection strings.
const (
	kvDatabase  = "kv-database"
	sqlDatabase = "sql-database"
)

// secret returns the value of a Secret key. For the same names, it always returns the same value.
func (c *Case) secret(name, key string) string {
	switch name {
	case kvDatabase:
		return "postgresql://stack:" + Canary + "-kv@kv.example:5432/kv"
	case sqlDatabase:
		// The password contains characters that must be percent-encoded in a URL.
		return "postgresql://stack:" + Canary + "%40%2F%3A%23%25sql@sql.example:5433/sql"
	default:
		return strings.Join([]string{Canary, name, key}, "-")
	}
}
