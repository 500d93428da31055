package starter

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Manifest returns the manifest of the stack with comments. The Secrets that it refers to are comments without values,
// because a manifest is kept where everyone can read it.
func (p *Plan) Manifest() []byte {
	w := &page{}
	w.line("# A stack of Llama Stack, written by kubectl llamastack init.")
	w.line("#")
	w.line("#   kubectl llamastack validate -f FILE   checks it")
	w.line("#   kubectl apply -f FILE                 creates the stack")
	w.line("#   kubectl wait --for=condition=Ready llsd/%s%s", p.Name, p.inNamespace())
	p.secrets(w)
	w.line("apiVersion: %s", v1alpha2.GroupVersion)
	w.line("kind: %s", v1alpha2.Kind)
	w.line("metadata:")
	w.line("  name: %s", p.Name)
	if p.Namespace != "" {
		w.line("  namespace: %s", scalar(p.Namespace))
	}
	w.line("spec:")
	p.distribution(w)
	p.provider(w)
	p.models(w)
	p.storage(w)
	p.networking(w)
	return w.Bytes()
}

// page is a text of lines.
type page struct{ bytes.Buffer }

func (w *page) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (p *Plan) inNamespace() string {
	if p.Namespace == "" {
		return ""
	}
	return " -n " + p.Namespace
}

// Commands returns the commands that create the Secrets of the stack. Each reads the value from a file, so that it is
// not in the history of a shell.
func (p *Plan) Commands() []string {
	var commands []string
	keys := p.secretKeys()
	if len(keys) == 2 && keys[0].name == keys[1].name {
		command := fmt.Sprintf("kubectl create secret generic %s%s --from-file=%s=FILE", keys[0].name, p.inNamespace(), keys[0].key)
		if keys[0].key != keys[1].key {
			command += fmt.Sprintf(" --from-file=%s=FILE", keys[1].key)
		}
		return []string{command}
	}
	for _, key := range keys {
		commands = append(commands, fmt.Sprintf("kubectl create secret generic %s%s --from-file=%s=FILE", key.name, p.inNamespace(), key.key))
	}
	return commands
}

func (p *Plan) secretKeys() []secretKey {
	var keys []secretKey
	for _, key := range []*secretKey{p.secret, p.storeSecret} {
		if key != nil {
			keys = append(keys, *key)
		}
	}
	return keys
}

// secrets writes a commented template for each Secret. Keys of one Secret are in one template.
func (p *Plan) secrets(w *page) {
	keys := p.secretKeys()
	if len(keys) == 0 {
		return
	}
	w.line("#")
	w.line("# The stack reads the Secrets below. Create each of them from a file that holds only the value, without a line end:")
	w.line("#")
	for _, command := range p.Commands() {
		w.line("#   %s", command)
	}
	written := map[string]bool{}
	for _, first := range keys {
		if written[first.name] {
			continue
		}
		if w.line("#"); len(written) > 0 {
			w.line("# ---")
		}
		written[first.name] = true
		w.line("# apiVersion: v1")
		w.line("# kind: Secret")
		w.line("# metadata:")
		w.line("#   name: %s", first.name)
		if p.Namespace != "" {
			w.line("#   namespace: %s", scalar(p.Namespace))
		}
		w.line("# stringData:")
		for _, key := range keys {
			if key.name == first.name {
				w.line("#   %s: # %s", key.key, p.meaning(key))
			}
		}
	}
	w.line("---")
}

// meaning returns what a key of a Secret contains.
func (p *Plan) meaning(key secretKey) string {
	switch {
	case p.storeSecret == nil || key != *p.storeSecret:
		return "the API key of " + p.Kind.Short()
	case p.Store == StoreRedis:
		return "the password of Redis"
	default:
		return "postgresql://USER:PASSWORD@HOST:5432/DATABASE"
	}
}

func (p *Plan) distribution(w *page) {
	w.line("  # The server to run. Its configuration is the base that the fields below change.")
	w.line("  distribution:")
	w.line("    name: %s", p.Distribution)
	if p.Release != "" {
		w.line("    version: %q", p.Release)
		return
	}
	w.line("    # The operator chooses its default release, and keeps it for this stack. Set a release to choose it yourself:")
	w.line("    # version: %q", p.rel().Line)
}

func (p *Plan) provider(w *page) {
	w.line("")
	w.line("  # The provider of models. kubectl llamastack providers %s lists its settings.", p.Kind.Short())
	w.line("  providers:")
	w.line("    inference:")
	w.line("      provider: %s", scalar(p.Provider))
	if p.Endpoint != "" {
		if p.Kind.EndpointPath != "" && p.Kind.Endpoint(p.Endpoint) != p.Endpoint {
			w.line("      # The operator adds the path of the API: %s", p.Kind.Endpoint(p.Endpoint))
		}
		w.line("      endpoint: %s", scalar(p.Endpoint))
	}
	if p.secret != nil {
		w.line("      apiKey:")
		w.line("        secretKeyRef: {name: %s, key: %s}", p.secret.name, scalar(p.secret.key))
	}
	if len(p.settings) > 0 {
		w.line("      settings:")
		for _, s := range p.settings {
			w.line("        %s: %s", s.key, s.value)
		}
	}
}

func (p *Plan) models(w *page) {
	w.line("")
	if len(p.Models) == 0 {
		w.line("  # Models that the server registers when it starts, by the name that the provider gives them:")
		w.line("  # resources:")
		w.line("  #   models: [llama3.2-8b]")
		return
	}
	w.line("  # Models that the server registers when it starts, by the name that the provider gives them.")
	w.line("  resources:")
	w.line("    models:")
	for _, model := range p.Models {
		w.line("      - %s", scalar(strings.TrimSpace(model)))
	}
}

func (p *Plan) storage(w *page) {
	w.line("")
	switch p.Store {
	case StoreNone:
		w.line("  # The server keeps its data in the pod, and loses it with the pod. Set a volume to keep it:")
		w.line("  # workload:")
		w.line("  #   storage: {size: %s}", DefaultVolumeSize)
	case StorePostgres:
		w.line("  # The server keeps its state in PostgreSQL. The database and its user must exist.")
		w.line("  storage:")
		for _, half := range []string{"kv", "sql"} {
			w.line("    %s:", half)
			w.line("      type: postgres")
			w.line("      connectionString:")
			w.line("        secretKeyRef: {name: %s, key: %s}", p.storeSecret.name, scalar(p.storeSecret.key))
		}
	case StoreRedis:
		w.line("  # The server keeps key-value data in Redis, and relational data in SQLite files on the volume.")
		w.line("  storage:")
		w.line("    kv:")
		w.line("      type: redis")
		w.line("      endpoint: %s", scalar(p.StoreEndpoint))
		if p.storeSecret != nil {
			w.line("      password:")
			w.line("        secretKeyRef: {name: %s, key: %s}", p.storeSecret.name, scalar(p.storeSecret.key))
		}
		w.line("    sql:")
		w.line("      type: sqlite")
		p.volume(w)
	default:
		w.line("  # The server keeps its state in SQLite files on the volume. One pod at a time can use them.")
		w.line("  storage:")
		w.line("    kv:")
		w.line("      type: sqlite")
		w.line("    sql:")
		w.line("      type: sqlite")
		p.volume(w)
	}
}

func (p *Plan) volume(w *page) {
	w.line("")
	w.line("  workload:")
	w.line("    storage:")
	w.line("      # A volume can grow later, if its storage class allows that. It cannot shrink.")
	w.line("      size: %s", p.VolumeSize)
}

func (p *Plan) networking(w *page) {
	w.line("")
	if p.Expose == "" {
		w.line("  # The server is reachable in the cluster: http://%s-service:8321. To reach it from outside:", p.Name)
		w.line("  # networking:")
		w.line("  #   expose: {hostname: llama.example.com}")
		return
	}
	w.line("  # The host name must lead to the Ingress, Route or Gateway of the cluster. Add expose.tlsSecretName for HTTPS, and")
	w.line("  # spec.settings with server.auth so that the server asks clients for a token.")
	w.line("  networking:")
	w.line("    expose:")
	w.line("      hostname: %s", p.Expose)
}
