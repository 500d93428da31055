package redact

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// walker copies a JSON value without its secrets.
type walker struct {
	known *Known
	// hide receives each value that the walker replaces because of its place or key. Nil means that the walker does not
	// collect values.
	hide func(string)
	// free reports whether the value is a configuration and not a Kubernetes object.
	free bool
}

// identifiers lists fields of Kubernetes objects that contain no secrets. Some of these fields identify an object. The
// walker keeps the values of all listed fields unchanged.
var identifiers = []string{
	"apiVersion", "kind", "name", "namespace", "uid", "labels", "matchLabels", "selector", "image", "imageID", "caBundle",
	"resourceVersion", "creationTimestamp", "secretName", "nodeName", "hostname", "involvedObject", "regarding", "reason",
}

// configurations lists the fields of a stack that hold parts of the server's configuration.
var configurations = []string{"providers", "settings", "resources"}

// value copies the value of a key.
func (w walker) value(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		return w.object(key, v)
	case []any:
		return w.list(key, v)
	case string:
		return w.text(key, v)
	default:
		return v
	}
}

func (w walker) text(key, text string) any {
	switch {
	case !w.free && slices.Contains(identifiers, key):
		return text
	case IsKey(key) && !isPlain(text) && !isReference(text):
		return w.hidden(text)
	case w.hide != nil:
		return text
	default:
		return w.known.Text(text)
	}
}

// hidden returns the replacement for a secret, and collects the secret.
func (w walker) hidden(text string) string {
	if w.hide != nil {
		w.hide(text)
	}
	return Mark
}

func (w walker) object(key string, object map[string]any) any {
	switch {
	case !w.free && key == "annotations":
		return w.annotations(object)
	case !w.free && slices.Contains(identifiers, key):
		return object
	case key == "headers" || key == "default_headers" || key == "extra_headers":
		return w.all(object)
	}
	kept := make(map[string]any, len(object))
	w.free = w.free || slices.Contains(configurations, key)
	for name, value := range object {
		if !w.free && name == "managedFields" {
			continue
		}
		kept[name] = w.value(name, value)
	}
	return kept
}

// all replaces every string in a map, except strings that are only a reference to a variable.
func (w walker) all(object map[string]any) any {
	kept := make(map[string]any, len(object))
	for name, value := range object {
		kept[name] = w.value(name, value)
		if text, is := value.(string); is && !isReference(text) {
			kept[name] = w.hidden(text)
		}
	}
	return kept
}

func (w walker) annotations(object map[string]any) any {
	kept := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text, _ := object[name].(string)
		switch {
		case slices.Contains(dropped, name):
		case slices.Contains(annotations, name):
			kept[name] = w.text("", text)
		default:
			kept[name] = w.hidden(text)
		}
	}
	return kept
}

func (w walker) list(key string, list []any) any {
	kept := make([]any, len(list))
	for i, item := range list {
		kept[i] = w.item(key, item)
		if i > 0 && !w.free && (key == "args" || key == "command") {
			kept[i] = w.argument(item)
		}
	}
	return kept
}

func (w walker) item(key string, item any) any {
	switch v := item.(type) {
	case map[string]any:
		if key == "env" || key == "secretEnv" {
			return w.variable(v)
		}
		return w.value("", v) // the name of a list is not the key of its items
	case string:
		if key == "args" && !w.free {
			return w.argument(v)
		}
		return w.text(key, v)
	default:
		return w.value(key, v)
	}
}

// variable copies an environment variable.
func (w walker) variable(variable map[string]any) any {
	kept, _ := w.object("", variable).(map[string]any)
	name, _ := variable["name"].(string)
	if value, is := variable["value"].(string); is && value != "" && (!isOurs(name) || IsKey(name)) {
		kept["value"] = w.hidden(value)
	}
	return kept
}

// argument copies an argument of a program. It keeps the name of a flag, and the value of a flag if the value is never
// secret. It redacts all other text.
func (w walker) argument(item any) any {
	text, is := item.(string)
	if !is {
		return item
	}
	name, value, assigned := strings.Cut(text, "=")
	switch {
	case strings.HasPrefix(text, "-") && assigned && !strings.ContainsAny(name, " \n"):
		if isPlain(value) || operatorFlags[name] {
			return w.text("", text)
		}
		return name + "=" + w.hidden(value)
	case strings.HasPrefix(text, "-") && !strings.ContainsAny(text, " \n"):
		return w.text("", text)
	default:
		return w.hidden(text)
	}
}

// operatorFlags lists the flags of the operator whose values are not secret.
var operatorFlags = map[string]bool{
	"--metrics-bind-address": true, "--health-probe-bind-address": true, "--webhook-bind-address": true,
	"--watch-namespaces": true, "--leader-elect": true, "--zap-log-level": true,
}

// decoded returns the values of a Secret, except for certificates, which are not secret.
func decoded(object map[string]any) []string {
	var values []string
	data, _ := object["data"].(map[string]any)
	for key, value := range data {
		if key == "tls.crt" || key == "ca.crt" {
			continue
		}
		text, _ := value.(string)
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			values = append(values, string(plain))
		}
	}
	plain, _ := object["stringData"].(map[string]any)
	for _, value := range plain {
		if text, is := value.(string); is {
			values = append(values, text)
		}
	}
	return values
}
