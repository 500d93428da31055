package ogxserver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Result is a stack that was converted from an OGXServer.
type Result struct {
	// Object is the v1alpha2 LlamaStackDistribution, as JSON values.
	Object map[string]any
	// Comments are remarks on places in the result, in no particular order.
	Comments []Comment
	// LeftOut lists messages about fields that Object does not have, each with the field's path, the reason and, if
	// needed, a remedy.
	LeftOut []string
	// Warnings lists messages with a path: the comments on places where the server behaves differently, and the messages
	// in LeftOut, except those about fields that a stack does not need.
	Warnings []string
	// places maps the path of each value in the OGXServer, as one string, to the path of that value in the stack.
	places map[string][]string
}

// Comment is a remark on a place in a stack.
type Comment struct {
	At   []string
	Text string
}

// Place returns the path in the stack for a path in the OGXServer. It returns the path unchanged if the conversion
// recorded neither this path nor any of its parents.
func (r *Result) Place(path []string) []string {
	for i := len(path); i > 0; i-- {
		if to, ok := r.places[joined(path[:i])]; ok {
			return slices.Concat(to, path[i:])
		}
	}
	return path
}

// Convert converts an OGXServer to a stack. The caller must first make sure that Check finds no problem in the
// OGXServer. Convert does not change the object, and the result shares no mutable value with the object.
func Convert(object map[string]any) Result {
	c := conversion{from: object}
	c.result.places = make(map[string][]string)
	c.result.Object = map[string]any{"apiVersion": v1alpha2.GroupVersion.String(), "kind": v1alpha2.Kind}
	c.metadata()
	c.distribution()
	c.configMaps()
	c.providers()
	c.models()
	c.storage()
	c.disabled()
	c.network()
	c.trust()
	c.identity()
	c.workload()
	c.overrides()
	c.monitoring()
	return c.result
}

// conversion is the state of a conversion.
type conversion struct {
	from   map[string]any
	result Result
	// base is the configuration of the server without any changes, or nil if it is not known.
	base *baseConfig
	// taken contains the IDs of the OGXServer's providers, by the server's name for their API.
	taken map[string][]string
}

// path returns the steps of a dotted path. The index of a list item is a step.
func path(dotted string) []string { return strings.Split(dotted, ".") }

func joined(steps []string) string { return strings.Join(steps, "\x00") }

// fieldPath returns a path in the form that messages use, for example spec.providers.inference.remote.vllm[0].
func fieldPath(steps []string) string {
	var text strings.Builder
	for i, step := range steps {
		switch _, err := strconv.Atoi(step); {
		case err == nil && i > 0:
			text.WriteString("[" + step + "]")
		case i > 0:
			text.WriteString("." + step)
		default:
			text.WriteString(step)
		}
	}
	return text.String()
}

// get returns a value of the OGXServer, or nil if there is none.
func (c *conversion) get(dotted string) any { return at(c.from, path(dotted)...) }

func (c *conversion) text(dotted string) string {
	text, _ := c.get(dotted).(string)
	return text
}

func (c *conversion) number(dotted string) (int64, bool) { return whole(c.get(dotted)) }

func whole(value any) (int64, bool) {
	number, err := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	return number, err == nil && value != nil
}

// put writes a value at a path in the stack. The path must not contain a list.
func (c *conversion) put(value any, to ...string) {
	object := c.result.Object
	for _, step := range to[:len(to)-1] {
		inner, ok := object[step].(map[string]any)
		if !ok {
			inner = make(map[string]any)
			object[step] = inner
		}
		object = inner
	}
	object[to[len(to)-1]] = value
}

// went records the new path of a value from the OGXServer.
func (c *conversion) went(from, to []string) { c.result.places[joined(from)] = to }

// move copies a value to its new path unchanged.
func (c *conversion) move(from, to string) {
	if value := c.get(from); value != nil {
		c.put(runtime.DeepCopyJSONValue(value), path(to)...)
		c.went(path(from), path(to))
	}
}

// note adds a comment to a place in the stack.
func (c *conversion) note(text string, to ...string) {
	c.result.Comments = append(c.result.Comments, Comment{At: to, Text: text})
}

// differs adds a comment and a warning about a place in the stack where the server behaves differently.
func (c *conversion) differs(text string, to ...string) {
	c.note(text, to...)
	c.result.Warnings = append(c.result.Warnings, fieldPath(to)+": "+text)
}

// leaveOut records a field that a stack does not have, and adds a warning, because the field has no effect in a stack.
func (c *conversion) leaveOut(from, reason string) {
	c.needless(from, reason)
	c.result.Warnings = append(c.result.Warnings, from+": "+reason)
}

// needless records a field that a stack does not have and does not need.
func (c *conversion) needless(from, reason string) {
	c.result.LeftOut = append(c.result.LeftOut, from+": "+reason)
}

// configMaps converts the references to the base configuration and to the complete configuration.
func (c *conversion) configMaps() {
	for _, field := range []string{"spec.baseConfig", "spec.overrideConfig"} {
		c.move(field+".name", field+".configMapName")
		c.move(field+".key", field+".key")
	}
	if c.get("spec.overrideConfig") != nil {
		c.note("This is the complete configuration of the server. The operator mounts it as /etc/llama-stack/config.yaml, and not below /etc/ogx.",
			"spec", "overrideConfig")
	}
}

// adoption lists the annotations with which an OGXServer adopts objects of an older stack, with a message for each.
var adoption = map[string]string{
	"ogx.io/adopt-storage": "The OGXServer stores its data in the PersistentVolumeClaim %q. This stack has a different one, " +
		"%q, and ignores this annotation. To keep the data, follow docs/how-to/migrate-from-ogx.md.",
	"ogx.io/adopt-networking": "Clients reach the OGXServer through the Service %q. This stack has a different one, %q, " +
		"and ignores this annotation. Change the address in your clients.",
}

// metadata copies the metadata without the finalizers, and adds a warning for each annotation with which the OGXServer
// adopts objects.
func (c *conversion) metadata() {
	c.move("metadata", "metadata")
	metadata, _ := c.result.Object["metadata"].(map[string]any)
	if metadata["finalizers"] != nil {
		delete(metadata, "finalizers")
		c.leaveOut("metadata.finalizers", "no controller would remove them from a stack, so the stack could not be deleted")
	}
	name, _ := metadata["name"].(string)
	annotations, _ := metadata["annotations"].(map[string]any)
	suffix := map[string]string{"ogx.io/adopt-storage": "-pvc", "ogx.io/adopt-networking": "-service"}
	for _, key := range slices.Sorted(maps.Keys(adoption)) {
		if older, ok := annotations[key].(string); ok && older != "" {
			c.differs(fmt.Sprintf(adoption[key], older+suffix[key], name+suffix[key]), "metadata", "annotations", key)
		}
	}
}
