package bundle

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// These constants are the output formats of the command bundle load.
const (
	formValues    = "values"
	formConfigMap = "configmap"
	formVariables = "variables"
	formImages    = "images"
)

var bundleForms = []string{formValues, formConfigMap, formVariables, formImages}

// mirrored is the configuration that the operator needs for images in a different registry.
type mirrored struct {
	// operator is the new name of the operator's image, and digest is its digest. A nil operator means that the bundle
	// does not contain the image.
	operator name.Reference
	digest   string
	// overrides replaces images in the catalog. rewrite maps the registry hosts of images to a different registry.
	overrides distribution.Overrides
	rewrite   map[string]string
	// images is the table of all images with their new names and digests.
	images [][]string
}

func newMirrored(images []Image, places []name.Reference, registry string) *mirrored {
	m := &mirrored{
		overrides: distribution.Overrides{}, rewrite: map[string]string{},
		images: [][]string{{"IMAGE", "PLACE", "DIGEST"}},
	}
	for i := range images {
		digest, place := images[i].Descriptor.Digest.String(), places[i]
		m.images = append(m.images, []string{images[i].Reference, place.String(), digest})
		if images[i].Operator {
			m.operator, m.digest = place, digest
			continue
		}
		if repository, err := imagename.Repository(images[i].Reference); err == nil {
			host, _, _ := strings.Cut(imagename.Familiar(repository), "/")
			m.rewrite[host] = registry
		}
		m.override(images[i].Reference, place.Context().Name()+":"+place.Identifier()+"@"+digest)
	}
	return m
}

// override records the replacement of an image in the catalog. It ignores other images, which need no override.
func (m *mirrored) override(image, by string) {
	for _, one := range distribution.Images() {
		if one.Image != image {
			continue
		}
		for _, key := range distribution.OverrideKeys(one.Name, one.Version) {
			m.overrides[key] = by
		}
		return
	}
}

func (m *mirrored) write(page *bytes.Buffer, p app.Printer, form string) error {
	for _, server := range distribution.Known(nil) {
		if m.has(server+"@") && m.overrides[server] == "" {
			p.Note(fmt.Sprintf("the bundle does not contain the default release of %q: set spec.distribution.version in "+
				"stacks of this distribution", server))
		}
	}
	switch form {
	case formValues:
		return m.values(page)
	case formConfigMap:
		return m.configMap(page)
	case formVariables:
		return m.variables(page, p)
	default:
		app.WriteTable(page, m.images)
		return nil
	}
}

// has reports whether any key of the overrides has the prefix.
func (m *mirrored) has(prefix string) bool {
	for key := range m.overrides {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// data returns the data of the operator's ConfigMap, without keys that have no value.
func (m *mirrored) data() map[string]any {
	data := map[string]any{}
	if len(m.overrides) > 0 {
		data["image-overrides"] = m.overrides
	}
	if len(m.rewrite) > 0 {
		data["registries"] = map[string]any{"rewrite": m.rewrite}
	}
	return data
}

func (m *mirrored) values(page *bytes.Buffer) error {
	values := map[string]any{"operatorConfig": map[string]any{"data": m.data()}}
	if m.operator != nil {
		values["image"] = map[string]any{"repository": m.operator.Context().Name(), "digest": m.digest}
	}
	return writeYAML(page, values)
}

func (m *mirrored) configMap(page *bytes.Buffer) error {
	data := map[string]any{}
	for key, value := range m.data() {
		text, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("print %s: %w", key, err)
		}
		data[key] = string(text)
	}
	return writeYAML(page, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": names.OperatorConfigMap, "namespace": names.OperatorNamespace},
	})
}

// variables prints environment variables for an installer that cannot set the ConfigMap. It prints one variable for
// each distribution whose default release is in the bundle. The variable contains the image of this release.
func (m *mirrored) variables(page *bytes.Buffer, p app.Printer) error {
	env := []map[string]string{}
	for _, server := range distribution.Known(nil) {
		if image := m.overrides[server]; image != "" {
			env = append(env, map[string]string{"name": distribution.RelatedImage(server), "value": image})
		}
	}
	if len(env) == 0 {
		p.Warning("the bundle does not contain the default release of any distribution, and variables can name only " +
			"default releases; set --output to values or configmap")
	}
	return writeYAML(page, map[string]any{"env": env})
}

func writeYAML(page *bytes.Buffer, value any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Errorf("print YAML: %w", err)
	}
	page.Write(text)
	return nil
}
