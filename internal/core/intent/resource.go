package intent

import (
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

func decodeResources(in *Intent, spec *v1alpha2.ResourcesSpec, path *field.Path, errs *Errors) {
	if spec == nil {
		return
	}
	in.Models = decodeEntries(spec.Models, path.Child("models"), errs,
		func(e v1alpha2.ModelEntry) []byte { return e.Raw }, decodeModel)
	in.Tools = decodeEntries(spec.Tools, path.Child("tools"), errs,
		func(e v1alpha2.ToolEntry) []byte { return e.Raw }, decodeTool)
	in.Shields = decodeEntries(spec.Shields, path.Child("shields"), errs,
		func(e v1alpha2.ShieldEntry) []byte { return e.Raw }, decodeShield)
}

// decodeEntries reads a list in which each entry is a name or an object (FR-007). It omits entries with errors.
func decodeEntries[Entry, Item any](
	entries []Entry, path *field.Path, errs *Errors, raw func(Entry) []byte, decode func(*object) Item,
) []Item {
	if entries != nil && len(entries) == 0 {
		errs.Empty(path)
	}
	var items []Item
	for i, entry := range entries {
		before := len(*errs)
		o, ok := nameOrObject(raw(entry), path.Index(i), errs)
		if !ok {
			continue
		}
		item := decode(o)
		o.close()
		if len(*errs) == before {
			items = append(items, item)
		}
	}
	return items
}

// nameForm is the form of an entry that is a name or an object.
const nameForm = "a name, or an object {name: <name>, …}"

// nameOrObject reads a name or an object. A name is short for an object that has only this name.
func nameOrObject(raw []byte, path *field.Path, errs *Errors) (*object, bool) {
	value, err := decodeJSON(raw)
	if err != nil {
		errs.Forbidden(path, "is not valid JSON; correct the syntax of the value")
		return nil, false
	}
	if name, ok := value.(string); ok {
		if strings.TrimSpace(name) == "" {
			errs.Required(path, "must not be empty: set a name, or remove the entry")
			return nil, false
		}
		value = map[string]any{"name": name}
	}
	return newObject(value, path, nameForm, errs)
}

func decodeModel(o *object) Model {
	return Model{
		Name:            o.requiredText("name", "set the ID under which the server registers the model"),
		Provider:        o.text("provider"),
		ProviderModelID: o.text("providerModelId"),
		ModelType:       o.text("modelType"),
		ContextLength:   o.positive("contextLength"),
		Quantization:    o.text("quantization"),
		Metadata:        o.values("metadata"),
		Path:            o.path,
	}
}

func decodeTool(o *object) Tool {
	tool := Tool{
		Name:        o.requiredText("name", "set websearch, rag, or the name of your MCP server or tool group"),
		Provider:    o.text("provider"),
		MCPEndpoint: o.text("mcpEndpoint"),
		Args:        o.values("args"),
		Path:        o.path,
	}
	if tool.MCPEndpoint != "" {
		if err := CheckURL(tool.MCPEndpoint); err != nil {
			o.Invalid(o.path.Child("mcpEndpoint"), tool.MCPEndpoint, "%v", err)
		}
	}
	return tool
}

func decodeShield(o *object) Shield {
	return Shield{
		Name:     o.requiredText("name", "set the ID under which the server registers the shield"),
		Provider: o.text("provider"),
		Model:    o.text("model"),
		Params:   o.values("params"),
		Path:     o.path,
	}
}

// CheckURL returns an error unless the string is an http or https URL with a host and without a user name or password.
// It accepts any string with ${env.…}, which the server checks.
func CheckURL(text string) error {
	if envref.IsMeant(text) {
		return nil
	}
	u, err := url.Parse(text)
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed != text:
		return fmt.Errorf("%q begins or ends with white space; write %q", withoutUser(text), withoutUser(trimmed))
	case err != nil || strings.ContainsAny(text, " \t\r\n"):
		return fmt.Errorf("%q is not a URL; write a URL such as http://host:8000", withoutUser(text))
	case u.User != nil:
		return fmt.Errorf("%q contains a user name or password, which is not allowed in a URL; put the credential in a Secret", withoutUser(text))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q does not begin with http:// or https://; write a URL such as http://host:8000", withoutUser(text))
	case u.Hostname() == "":
		return fmt.Errorf("%q has no host; write a URL such as http://host:8000", withoutUser(text))
	}
	return nil
}

// withoutUser removes the parts of a URL that may contain a password or a token: the user information, the query and
// the fragment.
func withoutUser(text string) string {
	start, rest := "", text
	if at := strings.LastIndex(text, "@"); at >= 0 {
		if scheme, _, found := strings.Cut(text, "://"); found {
			start = scheme + "://"
		}
		start, rest = start+"…", text[at:]
	}
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at+1] + "…"
	}
	return start + rest
}
