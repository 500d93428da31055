package starter

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Manifest returns the manifest of the stack with comments. Comments in the manifest contain templates for the Secrets
// of the stack. The templates have no values, because many people may be able to read a manifest.
func (p *Plan) Manifest() []byte {
	w := &page{}
	w.line("# kubectl llamastack init wrote this stack manifest.")
	w.line("#")
	w.line("#   kubectl llamastack validate -f FILE   checks the manifest")
	w.line("#   kubectl apply -f FILE                 creates the stack")
	w.line("#   kubectl wait --for=condition=Ready llsd/%s%s", p.Name, p.inNamespace())
	p.secrets(w)
	w.line("apiVersion: %s", v1alpha2.GroupVersion)
	w.line("kind: %s", v1alpha2.Kind)
	w.line("metadata:")
	w.line("  name: %s", scalar(p.Name))
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

// page is text that is written line by line.
type page struct{ bytes.Buffer }

func (w *page) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (p *Plan) inNamespace() string {
	if p.Namespace == "" {
		return ""
	}
	return " -n " + p.Namespace
}

// Commands returns the commands that create the Secrets of the stack. They read the values from variables and files, so
// that the shell history does not contain the values.
func (p *Plan) Commands() []string {
	var commands []string
	keys := p.secretKeys()
	for i, key := range keys {
		shared := i > 0 && keys[0].name == key.name
		if shared && keys[0].key == key.key {
			continue
		}
		write := fmt.Sprintf(`printf %%s "$%s" > %s.txt`, variable(key.key), key.key)
		source := fmt.Sprintf(" --from-file=%[1]s=%[1]s.txt", key.key)
		if shared {
			commands = []string{commands[0], write, commands[1] + source}
			continue
		}
		create := fmt.Sprintf("kubectl create secret generic %s%s%s", key.name, p.inNamespace(), source)
		commands = append(commands, write, create)
	}
	return commands
}

// variable returns the name of a shell variable for the value of a key.
func variable(key string) string {
	name := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, strings.ToUpper(key))
	if name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
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

// secrets writes a template for each Secret as a comment. Keys of the same Secret are in one template.
func (p *Plan) secrets(w *page) {
	keys := p.secretKeys()
	if len(keys) == 0 {
		return
	}
	w.line("#")
	w.line("# The stack uses the following Secrets. Write each key's value to a file, with no final line break, and")
	w.line("# create each Secret from its files. printf writes such a file from a shell variable:")
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
		p.secretTemplate(w, first.name)
	}
	w.line("---")
}

// secretTemplate writes the template of one Secret as a comment.
func (p *Plan) secretTemplate(w *page, name string) {
	w.line("# apiVersion: v1")
	w.line("# kind: Secret")
	w.line("# metadata:")
	w.line("#   name: %s", scalar(name))
	if p.Namespace != "" {
		w.line("#   namespace: %s", scalar(p.Namespace))
	}
	w.line("# stringData:")
	for _, key := range p.secretKeys() {
		if key.name == name {
			w.line("#   %s: # %s", scalar(key.key), p.meaning(key))
		}
	}
}

// meaning returns a description of the value of a key.
func (p *Plan) meaning(key secretKey) string {
	switch {
	case p.storeSecret == nil || key != *p.storeSecret:
		return "the API key of " + p.Kind.Short()
	case p.Store == StoreRedis:
		return "the Redis password"
	default:
		return "postgresql://USER:PASSWORD@HOST:5432/DATABASE"
	}
}

func (p *Plan) distribution(w *page) {
	w.line("  # The server to run. The fields providers, resources and storage change the configuration in the image (the base).")
	w.line("  distribution:")
	w.line("    name: %s", scalar(p.Distribution))
	if p.Release != "" {
		w.line("    version: %q", p.Release)
		return
	}
	w.line("    # The operator uses its default release, and keeps that release for this stack. To use another release, set:")
	w.line("    # version: %q", p.rel().Line)
}

func (p *Plan) provider(w *page) {
	w.line("")
	w.line("  # The model provider. To list its settings, run: kubectl llamastack providers %s", p.Kind.Short())
	w.line("  providers:")
	w.line("    inference:")
	w.line("      provider: %s", scalar(p.Provider))
	if p.Endpoint != "" {
		if p.Kind.EndpointPath != "" && p.Kind.Endpoint(p.Endpoint) != p.Endpoint {
			w.line("      # The operator adds the path of the API: %s", scalar(p.Kind.Endpoint(p.Endpoint)))
		}
		w.line("      endpoint: %s", scalar(p.Endpoint))
	}
	if p.secret != nil {
		w.line("      apiKey:")
		w.line("        secretKeyRef: {name: %s, key: %s}", scalar(p.secret.name), scalar(p.secret.key))
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
		w.line("  # The models that the server registers when it starts, with the names that the provider uses:")
		w.line("  # resources:")
		w.line("  #   models: [llama3.2-8b]")
		return
	}
	w.line("  # The models that the server registers when it starts, with the names that the provider uses.")
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
		w.line("  # The server stores its data in the pod. If the pod is deleted, all data is lost. If the container restarts,")
		w.line("  # most of the data is lost. To keep the data, set a volume:")
		w.line("  # workload:")
		w.line("  #   storage: {size: %s}", DefaultVolumeSize)
	case StorePostgres:
		w.line("  # The server stores its state in PostgreSQL. The database and its user must exist.")
		w.line("  storage:")
		p.postgres(w, "kv")
		p.postgres(w, "sql")
	case StoreRedis:
		w.line("  # The server stores key-value data in Redis, and relational data in SQLite files on the volume.")
		w.line("  storage:")
		p.redis(w)
		sqlite(w, "sql")
		p.volume(w)
	default:
		w.line("  # The server stores its state in SQLite files on the volume. Only one pod at a time can use the files.")
		w.line("  storage:")
		sqlite(w, "kv")
		sqlite(w, "sql")
		p.volume(w)
	}
}

func sqlite(w *page, field string) {
	w.line("    %s:", field)
	w.line("      type: sqlite")
}

func (p *Plan) postgres(w *page, field string) {
	w.line("    %s:", field)
	w.line("      type: postgres")
	w.line("      connectionString:")
	w.line("        secretKeyRef: {name: %s, key: %s}", scalar(p.storeSecret.name), scalar(p.storeSecret.key))
}

func (p *Plan) redis(w *page) {
	w.line("    kv:")
	w.line("      type: redis")
	w.line("      endpoint: %s", scalar(p.StoreEndpoint))
	if p.storeSecret != nil {
		w.line("      password:")
		w.line("        secretKeyRef: {name: %s, key: %s}", scalar(p.storeSecret.name), scalar(p.storeSecret.key))
	}
}

func (p *Plan) volume(w *page) {
	w.line("")
	w.line("  workload:")
	w.line("    storage:")
	w.line("      # You can enlarge a volume later if its storage class allows that. You cannot shrink a volume.")
	w.line("      size: %s", scalar(p.VolumeSize))
}

func (p *Plan) networking(w *page) {
	w.line("")
	if p.Expose == "" {
		w.line("  # Inside the cluster, the URL of the server is http://%s-service:8321. For access from outside the cluster, set:", p.Name)
		w.line("  # networking:")
		w.line("  #   expose: {hostname: llama.example.com}")
		return
	}
	w.line("  # The host name must resolve to the Ingress controller, router or Gateway of the cluster. For HTTPS, set")
	w.line("  # expose.tlsSecretName. To require a token from clients, set server.auth in spec.settings.")
	w.line("  networking:")
	w.line("    expose:")
	w.line("      hostname: %s", scalar(p.Expose))
}
