//go:build server

package boot

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// samples is the directory of the samples for users.
const samples = "../../../config/samples"

// sample contains the object and the Secrets of one file, such as a file in config/samples.
type sample struct {
	stack   *v1alpha2.LlamaStackDistribution
	secrets secrets
	running *plan.Running // nil means that no earlier version of the stack is running
}

// secrets contains the values, keyed by the name of the Secret and the key.
type secrets map[string]map[string]string

// values returns all values. The tests remove them from their output.
func (s secrets) values() []string {
	var values []string
	for _, data := range s {
		for _, value := range data {
			values = append(values, value)
		}
	}
	return values
}

func readSample(t *testing.T, file string) sample {
	t.Helper()
	path := file
	if !strings.HasPrefix(file, "testdata/") {
		path = filepath.Join(samples, file)
	}
	content, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	s := sample{secrets: secrets{}}
	documents := yaml.NewYAMLReader(bufio.NewReader(content))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.add(document)
		}
		if err != nil {
			t.Fatalf("read %q: %v", file, err)
		}
	}
	if s.stack == nil {
		t.Fatalf("%q does not contain a %s", file, v1alpha2.Kind)
	}
	// "kubectl apply" also sets this namespace, unless the user selects a different namespace.
	s.stack.Namespace = "default"
	return s
}

// add decodes one document strictly, so that an unknown field in a sample is an error.
func (s *sample) add(document []byte) error {
	var header struct {
		Kind string `json:"kind"`
	}
	if err := sigsyaml.Unmarshal(document, &header); err != nil {
		return fmt.Errorf("decode kind: %w", err)
	}
	switch header.Kind {
	case "Secret":
		var secret corev1.Secret
		if err := sigsyaml.UnmarshalStrict(document, &secret); err != nil {
			return fmt.Errorf("decode Secret: %w", err)
		}
		s.secrets[secret.Name] = secret.StringData
	case v1alpha2.Kind:
		s.stack = &v1alpha2.LlamaStackDistribution{}
		if err := sigsyaml.UnmarshalStrict(document, s.stack); err != nil {
			return fmt.Errorf("decode %s: %w", v1alpha2.Kind, err)
		}
	default:
		return fmt.Errorf("unexpected kind %q", header.Kind)
	}
	return nil
}

// place contains the servers on this machine that a stack uses.
type place struct {
	models *upstream
	db     *database
	redis  *redisServer
	mcp    string // URL of an MCP server
	closed int    // a port on which no program listens, for tests that need one
}

// startPlace starts a model server and an MCP server, and the databases for which the sample has Secrets.
func (s *sample) startPlace(t *testing.T, rel *release.Release) place {
	t.Helper()
	on := place{models: startUpstream(t), mcp: startMCP(t)}
	if _, ok := s.secrets["pg-creds"]; ok {
		on.db = newDatabase(t)
		if s.stack != nil && s.usesVectors() && slices.Contains(extensionByHand, rel.Line) {
			if _, err := on.db.query(t.Context(), "CREATE EXTENSION vector"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, ok := s.secrets["redis-creds"]; ok {
		on.redis = startRedis(t)
	}
	return on
}

// fit adapts a sample to a release and to this machine, which has no model weights and has its own model servers and
// databases. It does not change other parts of the sample.
func (s *sample) fit(t *testing.T, rel *release.Release, on place) {
	t.Helper()
	name := s.stack.Spec.Distribution.Name
	s.stack.Spec.Distribution.Version = rel.Version
	s.stack.Spec.Disabled = append(s.stack.Spec.Disabled, heavy(t, rel, resolve(t, rel, name).Base)...)
	s.edit(t, func(spec map[string]any) {
		delete(spec, "externalProviders") // the packages of external providers exist only in pods
		withoutAPIs(rel, spec)
		fitProviders(t, spec, on)
		for _, entry := range list(spec, "resources", "tools") {
			if tool, ok := entry.(map[string]any); ok && tool["mcpEndpoint"] != nil {
				tool["mcpEndpoint"] = on.mcp
			}
		}
		if kv := mapping(spec, "storage", "kv"); kv["endpoint"] != nil {
			kv["endpoint"] = on.redis.address
		}
	})
	s.fitSecrets(on)
}

// extensionByHand lists the release lines whose pgvector provider requires the extension to exist. Later lines create
// the extension.
var extensionByHand = []string{"0.2", "0.3", "0.4"}

func (s *sample) usesVectors() bool {
	return s.stack.Spec.Providers != nil && s.stack.Spec.Providers.VectorIo != nil
}

// edit changes the spec in its written form, so that a field that allows two forms keeps its form. Examples are a
// single provider instead of a list, and a plain name instead of an object.
func (s *sample) edit(t *testing.T, change func(spec map[string]any)) {
	t.Helper()
	data, err := json.Marshal(s.stack.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var spec map[string]any
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	change(spec)
	if data, err = json.Marshal(spec); err != nil {
		t.Fatal(err)
	}
	s.stack.Spec = v1alpha2.LlamaStackDistributionSpec{}
	if err := json.Unmarshal(data, &s.stack.Spec); err != nil {
		t.Fatal(err)
	}
}

// withoutAPIs removes the parts of a spec for APIs that the release does not have. The operator rejects such parts, and
// the tests of package stackconfig check the messages.
func withoutAPIs(rel *release.Release, spec map[string]any) {
	providers := mapping(spec, "providers")
	for field := range providers {
		if _, ok := rel.API(release.SnakeCase(field)); !ok {
			delete(providers, field)
		}
	}
	if _, ok := rel.Resource("shields"); !ok {
		delete(mapping(spec, "resources"), "shields")
	}
}

// fitProviders replaces the endpoints and the databases of providers with those of the servers on this machine.
func fitProviders(t *testing.T, spec map[string]any, on place) {
	t.Helper()
	for _, value := range mapping(spec, "providers") {
		entries, isList := value.([]any)
		if !isList {
			entries = []any{value}
		}
		for _, entry := range entries {
			provider := entry.(map[string]any)
			if endpoint, ok := provider["endpoint"].(string); ok {
				moved, err := moveEndpoint(endpoint, on.models.url)
				if err != nil {
					t.Fatal(err)
				}
				provider["endpoint"] = moved
			}
			if settings, ok := provider["settings"].(map[string]any); ok && provider["provider"] == "pgvector" {
				settings["port"], settings["db"] = on.db.port, on.db.name
			}
		}
	}
}

// fitSecrets sets the credentials of the servers on this machine.
func (s *sample) fitSecrets(on place) {
	if creds, ok := s.secrets["pg-creds"]; ok {
		for key, value := range map[string]string{
			"url": on.db.connectionString(), "host": on.db.host, "user": postgresUser, "password": on.db.password,
		} {
			if _, used := creds[key]; used {
				creds[key] = value
			}
		}
	}
	if creds, ok := s.secrets["redis-creds"]; ok {
		creds["password"] = on.redis.password
	}
}

// mapping and list return the mapping or the list at a path of the spec, or an empty value.
func mapping(spec map[string]any, path ...string) map[string]any {
	for _, key := range path {
		spec, _ = spec[key].(map[string]any)
	}
	return spec
}

func list(spec map[string]any, path ...string) []any {
	last := len(path) - 1
	entries, _ := mapping(spec, path[:last]...)[path[last]].([]any)
	return entries
}

// moveEndpoint replaces the host of an endpoint with the host of another server. It does not change the path.
func moveEndpoint(endpoint, server string) (string, error) {
	from, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("parse endpoint: %w", err)
	}
	to, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("parse server: %w", err)
	}
	from.Scheme, from.Host = to.Scheme, to.Host
	return from.String(), nil
}
