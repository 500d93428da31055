package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// remarks contains the comments that this package adds.
type remarks struct {
	// header is the comment above the document.
	header string
	// at contains the comments on fields, keyed by the location of each field.
	at map[string]string
	// ofSpec contains comments above the spec.
	ofSpec []string
	// warnings are messages for the user.
	warnings []string
}

// comment returns the comment on a field.
func (r *remarks) comment(at []string) string { return r.at[joinPlace(at)] }

// add adds a comment on a field.
func (r *remarks) add(comment string, at ...string) {
	if r.at == nil {
		r.at = make(map[string]string)
	}
	r.at[joinPlace(at)] = joined(r.at[joinPlace(at)], comment)
}

func (r *remarks) annotation(name, comment string) { r.add(comment, "metadata", "annotations", name) }

// leftOut adds a comment and a warning about a value that the manifest does not contain.
func (r *remarks) leftOut(format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	r.ofSpec = append(r.ofSpec, "Left out: "+sentence)
	r.warnings = append(r.warnings, sentence)
}

// ofDropped adds comments and warnings about fields that no version has.
func (r *remarks) ofDropped(sentences []string) {
	for _, sentence := range sentences {
		r.leftOut("%s", sentence)
	}
}

// ofObject adds comments on the annotations of the manifest.
func (r *remarks) ofObject(object map[string]any) {
	given, _ := child(object, "metadata", "annotations")
	if profile.Of(texts(given)).V1alpha1 {
		r.annotation(names.AnnotationCompat, compatComment(object))
	}
	for name, comment := range map[string]string{
		names.AnnotationContainerName: "This annotation contains the name of the server's container. The annotation " +
			"replaces the v1alpha1 field spec.server.containerSpec.name.",
		names.AnnotationUserConfigNamespace: "This annotation contains the namespace of the ConfigMap in overrideConfig. The " +
			"annotation replaces the v1alpha1 field spec.server.userConfig.configMapNamespace. The operator reads that " +
			"ConfigMap only if the annotation " +
			names.AnnotationAllowNamespaces + " on the ConfigMap allows the namespace of this stack.",
		names.AnnotationCABundleNamespace: "This annotation contains the namespace of the ConfigMap in caBundle. The annotation " +
			"replaces the v1alpha1 field spec.server.tlsConfig.caBundle.configMapNamespace. The operator reads that ConfigMap " +
			"only if the annotation " +
			names.AnnotationAllowNamespaces + " on the ConfigMap allows the namespace of this stack.",
	} {
		if given[name] != nil {
			r.annotation(name, comment)
		}
	}
	if given[names.AnnotationConversionData] != nil {
		r.ofConversionData(object)
	}
}

func texts(given map[string]any) map[string]string {
	found := make(map[string]string, len(given))
	for name, value := range given {
		found[name], _ = value.(string)
	}
	return found
}

// ofConversionData adds a comment on the annotation with conversion data.
func (r *remarks) ofConversionData(object map[string]any) {
	carried := fieldList(convert.Carried(object))
	older := object["apiVersion"] == v1alpha1.GroupVersion.String()
	problem := convert.DataProblem(object)
	switch {
	case problem != nil:
		r.annotation(names.AnnotationConversionData, "This annotation fails to restore some or all values: "+problem.Error()+".")
		r.warnings = append(r.warnings, problem.Error())
	case carried == "":
		r.annotation(names.AnnotationConversionData,
			"The stack was created as v1alpha2, so it does not have the special behavior of v1alpha1 stacks. Do not change "+
				"this annotation.")
	case older:
		r.annotation(names.AnnotationConversionData, "v1alpha1 cannot hold some values of these v1alpha2 fields: "+carried+
			". The annotation keeps these values, and they remain in effect. If you change the annotation, these values "+
			"are lost. If you change a field in v1alpha1, the new value takes precedence.")
		r.warnings = append(r.warnings, "v1alpha1 cannot hold some values of "+carried+"; the annotation "+
			names.AnnotationConversionData+" keeps these values in effect")
	default:
		r.annotation(names.AnnotationConversionData, "This annotation contains the v1alpha1 form of values that v1alpha2 "+
			"writes differently: "+carried+
			". Only clients that read the stack as v1alpha1 need this annotation. You can remove the annotation if you have no such clients.")
	}
}

// fieldList returns field paths as a list for a sentence.
func fieldList(paths []string) string {
	for i, p := range paths {
		if name, ok := strings.CutPrefix(p, "annotations."); ok {
			paths[i] = "metadata.annotations[" + name + "]"
		}
	}
	return strings.Join(paths, ", ")
}

// ofOlder adds comments on fields that have a different form in v1alpha2, and warnings about fields that the manifest
// omits.
func (r *remarks) ofOlder(older map[string]any) {
	server, _ := child(older, "spec", "server")
	if userConfig, ok := child(server, "userConfig"); ok {
		if name, _ := userConfig["configMapName"].(string); name == "" {
			r.leftOut("spec.server.userConfig: a userConfig without the name of a ConfigMap has no effect")
		} else {
			r.add(overrideComment, "spec", "overrideConfig")
		}
	}
	if autoscaling, ok := child(server, "autoscaling"); ok {
		r.ofAutoscaling(autoscaling)
	}
	providers, _ := child(server, "providers")
	for _, api := range slices.Sorted(maps.Keys(providers)) {
		r.ofProviders(providers[api], "spec", "providers", api)
	}
}

// overrideComment is the comment on an overrideConfig that was converted from a userConfig.
const overrideComment = "In v1alpha1, this field is spec.server.userConfig. The field refers to the complete " +
	"configuration of the server, so the operator generates no configuration, and you cannot also set spec.providers, " +
	"resources, storage, disabled, settings, removeSettings or baseConfig."

func (r *remarks) ofAutoscaling(autoscaling map[string]any) {
	if !positive(autoscaling["maxReplicas"]) {
		r.leftOut("spec.server.autoscaling: a maxReplicas below 1 disables autoscaling")
		return
	}
	if autoscaling["minReplicas"] != nil && !positive(autoscaling["minReplicas"]) {
		r.leftOut("spec.server.autoscaling.minReplicas: a value below 1 has no effect")
	}
}

func positive(value any) bool {
	number, ok := value.(json.Number)
	if !ok {
		return false
	}
	f, err := number.Float64()
	return err == nil && f >= 1
}

// ofProviders adds comments on the settings of one provider, or of each provider in a list.
func (r *remarks) ofProviders(value any, at ...string) {
	if list, ok := value.([]any); ok {
		for i, one := range list {
			r.ofProviders(one, append(slices.Clone(at), strconv.Itoa(i))...)
		}
		return
	}
	provider, _ := value.(map[string]any)
	var were []string
	for _, name := range []string{"region", "deploymentName", "config"} {
		if provider[name] != nil {
			were = append(were, name)
		}
	}
	if len(were) > 0 {
		r.add("These settings include the v1alpha1 values of "+strings.Join(were, ", ")+".", append(slices.Clone(at), "settings")...)
	}
}

// finish adds the comments above and below the document, and the comments above the spec.
func (w *writer) finish(document, content *yaml.Node) {
	head := w.written.head
	document.FootComment = w.written.foot
	for i := 0; i+1 < len(content.Content); i += 2 {
		if key := content.Content[i]; key.Value == "spec" {
			key.HeadComment = joined(key.HeadComment, w.written.unplaced())
			for _, sentence := range w.ofSpec {
				addComment(key, sentence)
			}
		}
	}
	if len(content.Content) > 0 {
		first := content.Content[0]
		first.HeadComment = joined(head, first.HeadComment)
		if w.header != "" {
			first.HeadComment = joined(w.header, withoutHeader(first.HeadComment))
		}
	}
}

// headerStart is the beginning of the line that names the source of a manifest.
const headerStart = "# Converted from "

// withoutHeader returns a comment without the header of an earlier conversion.
func withoutHeader(comment string) string {
	first, rest, _ := strings.Cut(comment, "\n")
	if strings.HasPrefix(first, headerStart) {
		return rest
	}
	return comment
}

// compatComment returns the comment on the compatibility annotation: the behavior that the annotation preserves for
// this stack, and the effect of removing the annotation.
func compatComment(hub map[string]any) string {
	lines := []string{"The stack was created as v1alpha1. This annotation keeps the following v1alpha1 behavior:"}
	for _, habit := range habits {
		if habit.applies == nil || habit.applies(hub) {
			lines = append(lines, "- "+habit.text)
		}
	}
	return strings.Join(append(lines, "If you remove the annotation, the v1alpha2 behavior applies instead. The "+
		"operator then replaces the pods"+moreOnRemoval(hub)+"."), "\n")
}

func moreOnRemoval(hub map[string]any) string {
	if has("spec", "workload", "storage")(hub) {
		return ", and the server uses a directory on the volume: the server does not use the existing data, which " +
			"is deleted if it is not on the volume"
	}
	return ""
}

// habit is a behavior that the compatibility annotation preserves.
type habit struct {
	text string
	// applies reports whether the habit affects a stack. Nil means that it affects every stack.
	applies func(map[string]any) bool
}

func has(steps ...string) func(map[string]any) bool {
	return func(object map[string]any) bool {
		parent, ok := child(object, steps[:len(steps)-1]...)
		return ok && parent[steps[len(steps)-1]] != nil
	}
}

func not(applies func(map[string]any) bool) func(map[string]any) bool {
	return func(object map[string]any) bool { return !applies(object) }
}

var habits = []habit{
	{text: "The stack has no Service, because its spec sets neither a port nor environment variables.", applies: func(hub map[string]any) bool {
		overrides, _ := child(hub, "spec", "workload", "overrides")
		variables, _ := overrides["env"].([]any)
		return !has("spec", "networking", "port")(hub) && len(variables) == 0
	}},
	{text: "The pod runs as the image's user, with fsGroup 1001 and a mounted API token."},
	{text: "The server stores its data in the directory that the image uses, which might not be on the volume.", applies: has("spec", "workload",
		"storage")},
	{text: "LLAMA_STACK_CONFIG is /etc/llama-stack/config.yaml."},
	{text: "The operator mounts all keys of overrideConfig's ConfigMap at /etc/llama-stack.", applies: has("spec",
		"overrideConfig")},
	{text: "The container requests one CPU for each worker, and 1Gi of memory, unless spec.workload.resources sets other " +
		"values.", applies: func(hub map[string]any) bool {
		return !has("spec", "workload", "resources")(hub) || has("spec", "workload", "workers")(hub)
	}},
	{text: "The autoscaler does not scale below spec.workload.replicas.", applies: has("spec", "workload", "autoscaling")},
	{text: "The operator does not test a change in a separate pod before it replaces the running pods.", applies: not(has("spec", "workload", "preflight"))},
	{text: "Invalid values that v1alpha1 did not check cause a warning instead of an error."},
}
