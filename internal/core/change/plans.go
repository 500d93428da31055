package change

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan/settingpath"
)

// Plans lists all differences between two plans of one stack: in the image, the environment, the IDs that clients use
// for models, and the configuration. An added or removed provider is one difference. Instead of secrets, the values
// contain variables, or names and keys of Secrets.
func Plans(before, after *plan.Plan) []Difference {
	found := differences("", map[string]string{"image": before.Image()}, map[string]string{"image": after.Image()})
	found = append(found, differences("variable ", environment(before), environment(after))...)
	found = append(found, differences("", publicIDs(before), publicIDs(after))...)
	from, to := flat(before.Config), flat(after.Config)
	found = append(found, differences("provider ", from.providers, to.providers)...)
	for name := range from.providers {
		if _, stays := to.providers[name]; !stays {
			from.drop(name)
		}
	}
	for name := range to.providers {
		if _, was := from.providers[name]; !was {
			to.drop(name)
		}
	}
	return append(found, differences("", from.values, to.values)...)
}

// environment returns the environment of the server's container. For a variable from a Secret, it returns the name and
// the key of the Secret instead of the value.
func environment(p *plan.Plan) map[string]string {
	found := map[string]string{}
	for _, object := range p.Objects {
		deployment, ok := object.Apply.(*appsv1ac.DeploymentApplyConfiguration)
		if !ok {
			continue
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			for _, variable := range container.Env {
				found[*variable.Name] = valueOf(variable)
			}
		}
	}
	return found
}

// publicIDs returns the IDs that clients use for the models, keyed by the field that declares the model.
func publicIDs(p *plan.Plan) map[string]string {
	found := make(map[string]string, len(p.Models))
	for _, model := range p.Models {
		found[model.Path+" for clients"] = model.ID
	}
	return found
}

func valueOf(variable corev1ac.EnvVarApplyConfiguration) string {
	switch from := variable.ValueFrom; {
	case variable.Value != nil:
		return *variable.Value
	case from != nil && from.SecretKeyRef != nil:
		return fmt.Sprintf("Secret %s, key %s", *from.SecretKeyRef.Name, *from.SecretKeyRef.Key)
	default:
		return ""
	}
}

// flattened is a configuration as a map from paths to values.
type flattened struct {
	values map[string]string
	// providers contains the types of the providers, keyed by API and ID.
	providers map[string]string
}

// drop removes the values of a provider.
func (f *flattened) drop(provider string) {
	api, id, _ := strings.Cut(provider, "/")
	prefix := "providers." + api + "[" + id + "]"
	for path := range f.values {
		if strings.HasPrefix(path, prefix) {
			delete(f.values, path)
		}
	}
}

func flat(config []byte) flattened {
	f := flattened{values: map[string]string{}, providers: map[string]string{}}
	var document yaml.Node
	if err := yaml.Unmarshal(config, &document); err != nil || len(document.Content) == 0 {
		return f // no configuration was generated
	}
	settingpath.Visit(document.Content[0], func(path, value string) { f.values[path] = value })
	for path, value := range f.values {
		if name := settingpath.Provider(path); name != "" {
			f.providers[name] = value
		}
	}
	return f
}

// Origins returns the origins of the differences that Plans lists, keyed by Difference.What. An origin is from the
// later configuration, or from the earlier one if the value was removed. Only differences in the configuration have
// origins.
func Origins(before, after *plan.Plan) map[string]string {
	origins := map[string]string{}
	for _, side := range []*plan.Plan{before, after} {
		for _, setting := range side.Settings() {
			origins[setting.Path] = setting.Origin
			if name := settingpath.Provider(setting.Path); name != "" {
				origins["provider "+name] = setting.Origin
			}
		}
	}
	return origins
}
