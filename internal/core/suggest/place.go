package suggest

import (
	"regexp"
	"slices"
	"strings"
)

// word is a word that users bring from the configuration of the server, from v1alpha1 or from Kubernetes, as the name
// of a field that does not exist.
type word struct {
	// under is the path of the object with the field, with * for an API. Empty means any object in the spec.
	under string
	// names are the spellings of the word.
	names string
	// place is the path of the right field, relative to the object unless it begins with "spec.". Empty means that there
	// is no such field.
	place string
	// remedy explains more than the place, or replaces it.
	remedy string
}

// The remedies that several words share.
const (
	older     = "unknown field, which only v1alpha1 has: set apiVersion to llamastack.io/v1alpha1, or convert the manifest with kubectl llamastack convert"
	secretRef = "write {secretKeyRef: {name: <Secret>, key: <key>}}"
	template  = "spec.workload.overrides.podTemplate.spec"
	wholeURL  = "put the whole connection string, postgresql://user:password@host:port/database, into a Secret, and " + secretRef
	perValue  = "the settings of the provider have the keys of its configuration, such as host, port, db and user; a password belongs to secretRefs"
)

// words lists the words with an object before those without, and the first match counts.
var words = []word{
	{"spec", "server containerSpec podOverrides tlsConfig", "spec.distribution", older},
	{"spec", "userConfig config configMap runConfig run", "spec.overrideConfig", "it names a ConfigMap with the complete configuration"},
	{"spec", "model llm", "spec.resources.models", ""},
	{"spec", "vectorStores vector_stores", "spec.settings.vector_stores", ""},
	{"spec", "volume persistence pvc volumeClaimTemplate", "spec.workload.storage", ""},
	{"spec", "caBundle", "spec.networking.tls.caBundle", ""},
	{"spec.distribution", "tag release", "version", ""},
	{"spec.distribution", "repository registry", "image", ""},
	{"spec.providers", "embedding embeddings embedder llm chat completion models", "spec.providers.inference", "inference providers also serve embedding models"},
	{"spec.providers", "vectorStore vector_store vectorStores rag database", "spec.providers.vectorIo", ""},
	{"spec.providers", "guardrails shields moderation", "spec.providers.safety", ""},
	{"spec.providers", "tools mcp", "spec.resources.tools", ""},
	{"spec.providers", "storage kv sql", "spec.storage", ""},
	{"spec.providers.*", "url uri baseUrl baseURL base_url apiBase api_base address", "endpoint", ""},
	{"spec.providers.*", "host hostname port db database user username", "settings", perValue},
	{"spec.providers.*", "config configuration options params parameters", "settings", ""},
	{"spec.providers.*", "password", "secretRefs", "with {password: {secretKeyRef: {name: <Secret>, key: <key>}}}"},
	{"spec.providers.*", "token api_token apiToken secret credentials", "apiKey", secretRef},
	{"spec.providers.*", "type kind providerType provider_type name", "provider", ""},
	{"spec.providers.*", "providerId provider_id", "id", ""},
	{"spec.providers.*", "model models", "spec.resources.models", ""},
	{"spec.resources.models", "model_id modelId model id", "name", ""},
	{"spec.resources.models", "provider_id providerId", "provider", ""},
	{"spec.resources.models", "embedding_dimension embeddingDimension dimension", "metadata.embedding_dimension", ""},
	{"spec.resources.models", "context_length contextWindow max_tokens maxTokens", "contextLength", ""},
	{"spec.resources.tools", "toolgroup_id toolGroupId id", "name", ""},
	{"spec.resources.tools", "provider_id providerId", "provider", ""},
	{"spec.resources.tools", "url uri endpoint mcp_endpoint", "mcpEndpoint", ""},
	{"spec.resources.shields", "shield_id shieldId id", "name", ""},
	{"spec.resources.shields", "provider_id providerId", "provider", ""},
	{"spec.storage", "type", "kv.type", "the type of the SQL store is sql.type"},
	{"spec.storage", "size storageClass storageClassName accessModes mountPath path", "spec.workload.storage", ""},
	{"spec.storage.sql", "host port db database user username password url uri endpoint", "connectionString", wholeURL},
	{"spec.storage.kv", "host port url uri address", "endpoint", "for Redis; PostgreSQL has a connectionString"},
	{"spec.workload", "cpu memory gpu limits requests", "resources", "for example {limits: {cpu: \"2\", memory: 4Gi}}"},
	{"spec.workload.resources", "cpu memory gpu", "limits", "for example {cpu: \"2\", memory: 4Gi}"},
	{"spec.networking", "host hostname ingress route", "expose", "for example {hostname: llama.example.com}"},
	{"spec.networking.expose", "host hosts url domain", "hostname", ""},
	{"spec.networking.expose", "tls tlsSecret", "tlsSecretName", ""},
	{"spec.networking.expose", "className class ingressClass", "ingressClassName", ""},
	{"spec.overrideConfig", "name configMap", "configMapName", ""},
	{"spec.baseConfig", "name configMap", "configMapName", ""},

	{"", "serviceType service loadBalancer nodePort", "", "the Service has the type ClusterIP; to reach the server from outside, set spec.networking.expose, or create a Service of another type that selects the pods"},
	{"", "valueFrom", "secretKeyRef", "leave out valueFrom, and " + secretRef},
	{"", "configMapKeyRef", "secretKeyRef", "only a Secret can hold a credential: " + secretRef},
	{"", "image", "spec.distribution.image", ""},
	{"", "env", "spec.workload.overrides.env", ""},
	{"", "envFrom", "spec.workload.overrides.envFrom", ""},
	{"", "command", "spec.workload.overrides.command", ""},
	{"", "args", "spec.workload.overrides.args", ""},
	{"", "volumes", "spec.workload.overrides.volumes", ""},
	{"", "volumeMounts", "spec.workload.overrides.volumeMounts", ""},
	{"", "imagePullSecrets", "spec.workload.overrides.imagePullSecrets", ""},
	{"", "imagePullPolicy", "spec.workload.overrides.imagePullPolicy", ""},
	{"", "serviceAccount serviceAccountName", "spec.workload.overrides.serviceAccountName", ""},
	{"", "labels", "spec.workload.overrides.podLabels", ""},
	{"", "annotations", "spec.workload.overrides.podAnnotations", ""},
	{"", "podTemplate template", "spec.workload.overrides.podTemplate", ""},
	{"", "nodeSelector", template + ".nodeSelector", ""},
	{"", "tolerations", template + ".tolerations", ""},
	{"", "affinity", template + ".affinity", ""},
	{"", "securityContext podSecurityContext", template + ".securityContext", ""},
	{"", "initContainers", template + ".initContainers", ""},
	{"", "containers sidecars", template + ".containers", ""},
	{"", "priorityClassName", template + ".priorityClassName", ""},
	{"", "runtimeClassName", template + ".runtimeClassName", ""},
	{"", "hostAliases", template + ".hostAliases", ""},
	{"", "livenessProbe readinessProbe startupProbe", template + ".containers", ""},
	{"", "ingress route", "spec.networking.expose", ""},
	{"", "port", "spec.networking.port", ""},
	{"", "tls", "spec.networking.tls", ""},
	{"", "userConfig", "spec.overrideConfig", ""},
}

var (
	index    = regexp.MustCompile(`\[[^\]]*\]`)
	provided = regexp.MustCompile(`^spec\.providers\.[^.]+$`)
)

// Unknown returns the message about a field that does not exist, if its name is a word that users bring from elsewhere,
// and an empty string otherwise. The message begins with "unknown field", as all messages about unknown fields do.
func Unknown(path string) string {
	path = index.ReplaceAllString(path, "")
	cut := strings.LastIndex(path, ".")
	if len(path) > 4*longest || cut < 0 || !strings.HasPrefix(path, "spec.") {
		return ""
	}
	under, name := path[:cut], path[cut+1:]
	if provided.MatchString(under) {
		under = "spec.providers.*"
	}
	for i := range words {
		if w := &words[i]; (w.under == "" || w.under == under) && slices.Contains(strings.Fields(w.names), name) {
			return w.message(under)
		}
	}
	return ""
}

func (w *word) message(under string) string {
	if w.remedy == older {
		return w.remedy
	}
	place := w.place
	// A field of the same object is written without its path.
	if rest, ok := strings.CutPrefix(place, under+"."); ok && !strings.Contains(rest, ".") {
		place = rest
	}
	switch {
	case place == "":
		return "unknown field; " + w.remedy
	case w.remedy == "" && !strings.HasPrefix(place, "spec."):
		return "unknown field; did you mean \"" + place + "\"?"
	case w.remedy == "":
		return "unknown field; did you mean " + place + "?"
	case strings.HasPrefix(place, "spec."):
		return "unknown field; did you mean " + place + "? " + w.remedy
	default:
		return "unknown field; did you mean \"" + place + "\"? " + w.remedy
	}
}
