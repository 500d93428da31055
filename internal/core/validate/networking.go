package validate

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

const (
	maxCAKeys        = 50
	maxAllowed       = 256
	maxNamespaceName = 63
)

var (
	namespaceForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	selectorForm  = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?` +
		`(=([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?)?$`)
)

// tlsSecretName checks FR-062: a stack can set secretName only if TLS is enabled. Package intent reports a missing
// secretName.
func tlsSecretName(c *checks) {
	tls, path := c.tls(), spec("networking", "tls", "secretName")
	switch {
	case tls.SecretName == "":
	case !tls.Enabled:
		c.Forbidden(path, `%q has no effect while tls is not enabled: set enabled: true or remove secretName`, tls.SecretName)
	default:
		c.objectName(path, "Secret", tls.SecretName)
	}
}

func caBundle(c *checks) {
	bundle, path := c.tls().CABundle, spec("networking", "tls", "caBundle")
	if bundle == nil {
		return
	}
	keys := path.Child("configMapKeys")
	c.objectName(path.Child("configMapName"), "ConfigMap", bundle.ConfigMapName)
	c.atMost(keys, len(bundle.ConfigMapKeys), maxCAKeys)
	for i, key := range bundle.ConfigMapKeys {
		c.dataKey(keys.Index(i), key)
	}
}

// hostname checks that Ingress, Route and HTTPRoute accept a host name. They reject IP addresses and labels that DNS
// does not allow.
func (c *checks) hostname(path *field.Path, name string) {
	switch {
	case name == "":
		return
	case len(validation.IsValidIP(path, name)) == 0:
		c.InvalidText(path, name, `is an IP address: write a host name such as llama.example.com`)
		return
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		c.InvalidText(path, name, `is not a host name: write a name such as llama.example.com, without a scheme, port or path`)
		return
	}
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > validation.DNS1123LabelMaxLength {
			c.InvalidText(path, name, `is not a host name: its part %q has more than %d characters; shorten this part`, label, validation.DNS1123LabelMaxLength)
			return
		}
	}
}

func expose(c *checks) {
	path := spec("networking", "expose")
	_, wanted, errs := intent.DecodeExpose(c.networking().Expose, path)
	c.Add(errs...)
	c.hostname(path.Child("hostname"), wanted.Hostname)
	c.annotationKeys(path.Child("annotations"), wanted.Annotations)
	if wanted.IngressClassName != "" {
		c.objectName(path.Child("ingressClassName"), "IngressClass", wanted.IngressClassName)
	}
	if wanted.TLSSecretName != "" {
		c.objectName(path.Child("tlsSecretName"), "Secret", wanted.TLSSecretName)
	}
}

func allowedNamespaces(c *checks) {
	path, names := spec("networking", "allowedFrom", "namespaces"), c.allowedFrom().Namespaces
	c.atMost(path, len(names), maxAllowed)
	for i, name := range names {
		if name != "*" && (len(name) > maxNamespaceName || !namespaceForm.MatchString(name)) {
			c.InvalidText(path.Index(i), name,
				`is not a valid namespace name: use at most 63 lowercase letters, digits and "-", `+
					`and begin and end with a letter or digit, or use the value "*" for every namespace`)
		}
	}
}

func allowedLabels(c *checks) {
	path, labels := spec("networking", "allowedFrom", "labels"), c.allowedFrom().Labels
	c.atMost(path, len(labels), maxAllowed)
	for i, label := range labels {
		if !selectorForm.MatchString(label) {
			c.InvalidText(path.Index(i), label, `is not a label: write a key such as llama-access, or a key and its value such as team=ml`)
			continue
		}
		key, value, _ := strings.Cut(label, "=")
		if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
			c.InvalidText(path.Index(i), label, "is not a label: %s", problems[0])
		}
	}
}

func (c *checks) networking() *v1alpha2.NetworkingSpec   { return orZero(c.Spec.Networking) }
func (c *checks) tls() *v1alpha2.TLSSpec                 { return orZero(c.networking().TLS) }
func (c *checks) allowedFrom() *v1alpha2.AllowedFromSpec { return orZero(c.networking().AllowedFrom) }
