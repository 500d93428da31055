package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// These are the fields and the resources to which a variable can refer.
var (
	envFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
		"status.hostIPs", "status.podIP", "status.podIPs",
	}
	envResources = []string{
		"limits.cpu", "limits.ephemeral-storage", "limits.memory",
		"requests.cpu", "requests.ephemeral-storage", "requests.memory",
	}
)

// Env checks the environment variables of a container.
func Env(path *field.Path, env []corev1.EnvVar) field.ErrorList {
	var c check
	for i := range env {
		c.variable(path.Index(i), &env[i])
	}
	return c.list()
}

func (c *check) variable(path *field.Path, variable *corev1.EnvVar) {
	c.name(path.Child("name"), variable.Name, validation.IsRelaxedEnvVarName)
	from, path := variable.ValueFrom, path.Child("valueFrom")
	if from == nil {
		return
	}
	if variable.Value != "" {
		c.Forbidden(path, "the variable also has a value: keep either value or valueFrom")
	}
	c.one(path, sources(from), "fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef and fileKeyRef")
	if ref := from.FieldRef; ref != nil && !isEnvField(ref.FieldPath) {
		c.InvalidText(path.Child("fieldRef", "fieldPath"), ref.FieldPath, "is not a known field: use one of %s, or a label or an "+
			"annotation such as metadata.labels['app']", strings.Join(envFields, ", "))
	}
	if ref := from.ResourceFieldRef; ref != nil {
		_, kind, _ := strings.Cut(ref.Resource, ".")
		if ref.Resource == "" {
			c.Required(path.Child("resourceFieldRef", "resource"), "required: use one of %s", strings.Join(envResources, ", "))
		}
		if !strings.HasPrefix(kind, corev1.ResourceHugePagesPrefix) {
			intent.OneOf(&c.Errors, path.Child("resourceFieldRef", "resource"), ref.Resource, envResources...)
		}
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		c.key(path.Child("configMapKeyRef"), ref.Name, ref.Key)
	}
	if ref := from.SecretKeyRef; ref != nil {
		c.key(path.Child("secretKeyRef"), ref.Name, ref.Key)
	}
}

func isEnvField(text string) bool {
	keyed := strings.HasPrefix(text, "metadata.labels['") || strings.HasPrefix(text, "metadata.annotations['")
	return slices.Contains(envFields, text) || keyed && strings.HasSuffix(text, "']")
}

// key checks a reference to a key of a ConfigMap or Secret.
func (c *check) key(path *field.Path, name, key string) {
	c.name(path.Child("name"), name, subdomain)
	if key == "" {
		c.Required(path.Child("key"), "required: set a key")
		return
	}
	c.text(path.Child("key"), key, validation.IsConfigMapKey)
}

// EnvFrom checks the ConfigMaps and Secrets whose keys are variables of a container.
func EnvFrom(path *field.Path, from []corev1.EnvFromSource) field.ErrorList {
	var c check
	for i := range from {
		path := path.Index(i)
		c.text(path.Child("prefix"), from[i].Prefix, validation.IsRelaxedEnvVarName)
		count := 0
		if ref := from[i].ConfigMapRef; ref != nil {
			count++
			c.name(path.Child("configMapRef", "name"), ref.Name, subdomain)
		}
		if ref := from[i].SecretRef; ref != nil {
			count++
			c.name(path.Child("secretRef", "name"), ref.Name, subdomain)
		}
		c.one(path, count, "configMapRef and secretRef")
	}
	return c.list()
}
