package validate

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
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

func tlsOf(obj *object) *v1alpha2.TLSSpec {
	if obj.Spec.Networking == nil {
		return nil
	}
	return obj.Spec.Networking.TLS
}

// tlsSecretName holds FR-062: a certificate where it is used, and only there.
func tlsSecretName(obj *object) field.ErrorList {
	tls, path := tlsOf(obj), spec("networking", "tls", "secretName")
	switch {
	case tls == nil || (!tls.Enabled && tls.SecretName == ""):
		return nil
	case tls.SecretName == "":
		return field.ErrorList{field.Required(path, "required when tls is enabled: the name of a Secret of type kubernetes.io/tls")}
	case !tls.Enabled:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			`%q has no effect while tls is not enabled: set enabled: true or remove secretName`, tls.SecretName))}
	}
	return objectName(path, "Secret", tls.SecretName)
}

func caBundle(obj *object) field.ErrorList {
	tls := tlsOf(obj)
	if tls == nil || tls.CABundle == nil {
		return nil
	}
	bundle, path := tls.CABundle, spec("networking", "tls", "caBundle")
	keys := path.Child("configMapKeys")
	errs := objectName(path.Child("configMapName"), "ConfigMap", bundle.ConfigMapName)
	errs = append(errs, atMost(keys, len(bundle.ConfigMapKeys), maxCAKeys)...)
	for i, key := range bundle.ConfigMapKeys {
		errs = append(errs, dataKey(keys.Index(i), "ConfigMap", key)...)
	}
	return errs
}

// hostname holds what Ingress, Route and HTTPRoute take for one: no address, and no label that DNS could not carry.
func hostname(path *field.Path, name string) field.ErrorList {
	switch {
	case name == "":
		return nil
	case len(validation.IsValidIP(path, name)) == 0:
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			`%q is an address: write a host name like llama.example.com`, name))}
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			`%q is not a host name: write one like llama.example.com, without scheme, port and path`, name))}
	}
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > validation.DNS1123LabelMaxLength {
			return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
				`%q is not a host name: its part %q is longer than %d characters`, name, label, validation.DNS1123LabelMaxLength))}
		}
	}
	return nil
}

func expose(obj *object) field.ErrorList {
	if obj.Spec.Networking == nil || obj.Spec.Networking.Expose == nil {
		return nil
	}
	path := spec("networking", "expose")
	_, wanted, errs := intent.DecodeExpose(obj.Spec.Networking.Expose, path)
	errs = append(errs, hostname(path.Child("hostname"), wanted.Hostname)...)
	if wanted.IngressClassName != "" {
		errs = append(errs, objectName(path.Child("ingressClassName"), "IngressClass", wanted.IngressClassName)...)
	}
	if wanted.TLSSecretName != "" {
		errs = append(errs, objectName(path.Child("tlsSecretName"), "Secret", wanted.TLSSecretName)...)
	}
	return errs
}

func allowedFrom(obj *object) v1alpha2.AllowedFromSpec {
	if obj.Spec.Networking == nil || obj.Spec.Networking.AllowedFrom == nil {
		return v1alpha2.AllowedFromSpec{}
	}
	return *obj.Spec.Networking.AllowedFrom
}

func allowedNamespaces(obj *object) field.ErrorList {
	path := spec("networking", "allowedFrom", "namespaces")
	names := allowedFrom(obj).Namespaces
	errs := atMost(path, len(names), maxAllowed)
	for i, name := range names {
		if name != "*" && (len(name) > maxNamespaceName || !namespaceForm.MatchString(name)) {
			errs = append(errs, field.Invalid(path.Index(i), name, fmt.Sprintf(
				`%q cannot be the name of a namespace: lower-case letters, digits and "-"; "*" alone means every namespace`, name)))
		}
	}
	return errs
}

func allowedLabels(obj *object) field.ErrorList {
	path := spec("networking", "allowedFrom", "labels")
	labels := allowedFrom(obj).Labels
	errs := atMost(path, len(labels), maxAllowed)
	for i, label := range labels {
		if !selectorForm.MatchString(label) {
			errs = append(errs, field.Invalid(path.Index(i), label, fmt.Sprintf(
				`%q is neither a label key (llama-access) nor key=value (team=ml)`, label)))
		}
	}
	return errs
}
