package operatorconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// These are the keys of the ConfigMap.
const (
	// KeyImageOverrides holds images that replace those in the catalog, and images for names that the catalog does not
	// contain.
	KeyImageOverrides = "image-overrides"
	// KeyFeatureFlags holds settings for every stack.
	KeyFeatureFlags = "featureFlags"
	// KeyIngress holds the settings for exposing stacks.
	KeyIngress = "ingress"
	// KeyGateway holds the Gateway that exposed stacks are attached to.
	KeyGateway = "gateway"
	// KeyRegistries holds the settings for reading images.
	KeyRegistries = "registries"
	// KeyBounds holds the limits for the stacks in a namespace.
	KeyBounds = "bounds"
)

// Config is the content of the ConfigMap. Callers must not change it.
type Config struct {
	// Images contains the images by name, or by name and version as `name@version`.
	Images distribution.Overrides
	// Features are settings for every stack.
	Features Features
	// Ingress holds the settings for exposing stacks.
	Ingress Ingress
	// Gateway is the Gateway that exposed stacks are attached to. Nil means that they have an Ingress or Route.
	Gateway *Gateway
	// Registries holds the settings for reading images.
	Registries Registries
	// Bounds holds the limits for the stacks in each namespace.
	Bounds bounds.Bounds

	// known holds the keys that are missing or were valid at least once.
	known map[string]bool
}

// Unknown reports whether a key has never been valid. A missing key is valid. The intended value of an unknown key is
// not known, so the operator must not change the objects that depend on the key.
func (c Config) Unknown(key string) bool { return !c.known[key] }

// section is one key, with the functions that read it and keep its last value.
type section struct {
	key  string
	help string
	read func(r *reader, value node, into *Config)
	keep func(into *Config, last Config)
}

// sectionOf returns the section for one part of the config.
func sectionOf[T any](key, help string, part func(*Config) *T, read func(*reader, node, *T)) section {
	return section{
		key: key, help: help,
		read: func(r *reader, value node, into *Config) { read(r, value, part(into)) },
		keep: func(into *Config, last Config) { *part(into) = *part(&last) },
	}
}

var sections = []section{
	sectionOf(KeyImageOverrides, imageOverridesHelp, func(c *Config) *distribution.Overrides { return &c.Images },
		readImages),
	sectionOf(KeyFeatureFlags, featuresHelp, func(c *Config) *Features { return &c.Features }, readFeatures),
	sectionOf(KeyIngress, ingressHelp, func(c *Config) *Ingress { return &c.Ingress }, readIngress),
	sectionOf(KeyGateway, gatewayHelp, func(c *Config) **Gateway { return &c.Gateway }, readGateway),
	sectionOf(KeyRegistries, registriesHelp, func(c *Config) *Registries { return &c.Registries }, readRegistries),
	sectionOf(KeyBounds, boundsHelp, func(c *Config) *bounds.Bounds { return &c.Bounds }, readBounds),
}

// Keys returns the known keys, sorted.
func Keys() []string {
	keys := make([]string, 0, len(sections))
	for _, s := range sections {
		keys = append(keys, s.key)
	}
	slices.Sort(keys)
	return keys
}

// Template returns the content of a new ConfigMap: every key with only its documentation.
func Template() map[string]string {
	data := map[string]string{}
	for _, s := range sections {
		data[s.key] = s.help
	}
	return data
}

// Read reads the ConfigMap. Nil means that it does not exist. For a key with an error, Read returns the value from the
// parameter last, which is the previous config. The field of each error begins with the key.
func Read(configMap *corev1.ConfigMap, last Config) (Config, field.ErrorList) {
	config := Config{Registries: Registries{ReadLabels: true}, known: map[string]bool{}}
	r := &reader{}
	if configMap == nil {
		configMap = &corev1.ConfigMap{}
	}
	for _, s := range sections {
		before := len(r.errs)
		if _, binary := configMap.BinaryData[s.key]; binary {
			r.fail(field.NewPath(s.key), "", "is in binaryData; put it under data, as text")
		}
		if root := r.document(field.NewPath(s.key), configMap.Data[s.key]); root.given() {
			s.read(r, root, &config)
		}
		if config.known[s.key] = len(r.errs) == before; !config.known[s.key] {
			s.keep(&config, last)
			config.known[s.key] = last.known[s.key]
		}
	}
	for _, key := range slices.Concat(
		slices.Sorted(maps.Keys(configMap.Data)), slices.Sorted(maps.Keys(configMap.BinaryData))) {
		if known := Keys(); !slices.Contains(known, key) {
			r.fail(field.NewPath(key), key, unknown("key", key, known))
		}
	}
	return config, r.errs
}

// unknown returns the error message for a name that is not among the known names.
func unknown(what, name string, known []string) string {
	message := "unknown " + what
	if near := suggest.Nearest(name, known); near != "" {
		return message + fmt.Sprintf("; did you mean %q?", near)
	}
	return message + "; known " + what + "s: " + strings.Join(known, ", ")
}

// KeyOf returns the key of the ConfigMap that an error from Read refers to.
func KeyOf(err *field.Error) string {
	if end := strings.IndexAny(err.Field, ".["); end >= 0 && slices.Contains(Keys(), err.Field[:end]) {
		return err.Field[:end]
	}
	return err.Field
}
