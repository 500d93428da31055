package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// Difference is one difference between two plans of a stack.
type Difference struct {
	// What describes the part that differs: `image`, `variable OGX_PORT`, `provider inference/vllm`, or a path in the
	// configuration. In a path, ids identify the entries of a list: providers.inference[vllm].config.url.
	What string `json:"what"`
	// From and To are the values in the two plans. Empty means that the plan has no such part.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Compare lists the differences between two plans of one stack: in the images, the environment, the ids that clients
// use for models, and the configuration. An added or removed provider is one difference. The values contain variables
// instead of secrets.
func Compare(before, after *Plan) []Difference {
	found := differences("", images(before), images(after))
	found = append(found, differences("variable ", environment(before), environment(after))...)
	found = append(found, differences("", models(before), models(after))...)
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

// images returns the images of the pods: the server's image and the images of external providers.
func images(p *Plan) map[string]string {
	found := map[string]string{"image": p.input.Image}
	for i := range p.input.External {
		one := &p.input.External[i]
		found["image of the external provider "+one.API+"/"+one.ID] = one.Image
	}
	return found
}

// differences returns the differences sorted by name.
func differences(kind string, before, after map[string]string) []Difference {
	all := maps.Clone(before)
	maps.Copy(all, after)
	found := []Difference{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from, was := before[name]
		if to, is := after[name]; was != is || from != to {
			found = append(found, Difference{What: kind + name, From: from, To: to})
		}
	}
	return found
}

// environment returns the environment of the server's container, with names and keys of Secrets instead of values.
func environment(p *Plan) map[string]string {
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

// models returns the ids that clients use for the models, by the field that declares the model.
func models(p *Plan) map[string]string {
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
	// providers are the types of the providers by API and id.
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
	leaves(document.Content[0], "", func(path, value string) { f.values[path] = value })
	for path, value := range f.values {
		if name := typedProvider(path); name != "" {
			f.providers[name] = value
		}
	}
	return f
}

// typedProvider returns API/id of the provider whose type is at a path, and "" for the path of any other value.
func typedProvider(path string) string {
	entry, isType := strings.CutSuffix(path, "].provider_type")
	api, id, found := strings.Cut(strings.TrimPrefix(entry, "providers."), "[")
	if !isType || !found {
		return ""
	}
	return api + "/" + id
}

// identities are the keys that identify the entries of a list.
var identities = []string{"provider_id", "model_id", "shield_id", "toolgroup_id", "connector_id", "vector_store_id"}

// label returns the name of an entry of a list: its value if it is a scalar, its id if it has one, and otherwise its
// index. The name of a model does not contain the provider, because the provider may be the difference.
func label(item *yaml.Node, i int) string {
	if item.Kind == yaml.ScalarNode {
		return item.Value
	}
	// The id of the entry takes precedence over the id of an object to which the entry refers.
	for _, key := range slices.Backward(identities) {
		if id := yamlnode.Get(item, key); id != nil && id.Value != "" {
			return conditional(id.Value)
		}
	}
	return strconv.Itoa(i)
}

// conditional returns the id in a reference such as ${env.VLLM_URL:+vllm}. It returns any other id unchanged.
func conditional(id string) string {
	if reference, whole := envref.Lookalike.Whole(id); whole && reference.Operator == envref.Alternative {
		return reference.Text
	}
	return id
}
