package change

import (
	"fmt"
	"strings"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// Plans lists all differences between two plans of one stack: in the image, the environment, the IDs that clients use
// for models, and the configuration. An added or removed provider is one difference. Instead of secrets, the values
// contain variables, or names and keys of Secrets. The differences in the configuration have an origin: that of the
// later value or, if the value was removed, that of the earlier one. The origins are keyed by Difference.What.
func Plans(before, after *plan.Plan) (found []Difference, origins map[string]string) {
	found = differences("", map[string]string{"image": before.Image()}, map[string]string{"image": after.Image()})
	found = append(found, differences("variable ", environment(before), environment(after))...)
	found = append(found, differences("", publicIDs(before), publicIDs(after))...)
	origins = map[string]string{}
	from, to := flat(before, origins), flat(after, origins)
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
	return append(found, differences("", from.values, to.values)...), origins
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

// flat returns the generated configuration of a plan, and adds the origins of its values and providers.
func flat(of *plan.Plan, origins map[string]string) flattened {
	f := flattened{values: map[string]string{}, providers: map[string]string{}}
	if of.Config == nil {
		return f
	}
	for _, setting := range of.Settings() {
		f.values[setting.Named], origins[setting.Named] = setting.Value, setting.Origin
		if name := provider(setting.Named); name != "" {
			f.providers[name], origins["provider "+name] = setting.Value, setting.Origin
		}
	}
	return f
}

// provider returns the API and the ID of the provider whose type is at a path, in the form API/ID. It returns "" for
// the path of any other value.
func provider(path string) string {
	entry, isType := strings.CutSuffix(path, "].provider_type")
	api, id, found := strings.Cut(strings.TrimPrefix(entry, "providers."), "[")
	if !isType || !found {
		return ""
	}
	return api + "/" + id
}
