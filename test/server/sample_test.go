//go:build server

package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// samples is where the samples that users read lie.
const samples = "../../config/samples"

// needWeights are the providers of starter that load model weights when the
// server starts; the defaults that name them leave with them. Nothing else of a
// sample is taken away.
var needWeights = []string{
	"inference/sentence-transformers",
	"inference/transformers",
	"safety/code-scanner",
}

// sample is one file of config/samples: an object and the Secrets beside it.
type sample struct {
	stack   *v1alpha2.LlamaStackDistribution
	secrets secrets
}

// secrets are values by the Secret's name and the key in it.
type secrets map[string]map[string]string

// values lists every value, to be kept out of the test's output.
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
	content, err := os.Open(filepath.Join(samples, file))
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
		t.Fatalf("%q holds no %s", file, v1alpha2.Kind)
	}
	// As the API server would on "kubectl apply".
	s.stack.Namespace = "default"
	return s
}

// add decodes one document strictly: a typing error in a sample is an error.
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

// fitMachine changes what has to differ on a machine without model servers, a
// database of that name, or model weights; everything else stays as users read it.
func (s *sample) fitMachine(t *testing.T, models *upstream, db *database) {
	t.Helper()
	s.stack.Spec.Disabled = append(s.stack.Spec.Disabled, needWeights...)
	s.eachProvider(t, func(provider map[string]any) error {
		if endpoint, ok := provider["endpoint"].(string); ok {
			moved, err := moveEndpoint(endpoint, models.url)
			if err != nil {
				return err
			}
			provider["endpoint"] = moved
		}
		if settings, ok := provider["settings"].(map[string]any); ok && db != nil && provider["provider"] == "pgvector" {
			settings["port"], settings["db"] = db.port, db.name
		}
		return nil
	})
	if creds, ok := s.secrets["pg-creds"]; ok && db != nil {
		for key, value := range map[string]string{
			"url": db.connectionString(), "host": db.host, "user": postgresUser, "password": postgresPassword,
		} {
			if _, used := creds[key]; used {
				creds[key] = value
			}
		}
	}
}

// eachProvider changes the providers of every API in their written form, so
// that a single provider stays single.
func (s *sample) eachProvider(t *testing.T, change func(provider map[string]any) error) {
	t.Helper()
	data, err := json.Marshal(s.stack.Spec.Providers)
	if err != nil {
		t.Fatal(err)
	}
	var apis map[string]any
	if err := json.Unmarshal(data, &apis); err != nil {
		t.Fatal(err)
	}
	for api, value := range apis {
		entries, isList := value.([]any)
		if !isList {
			entries = []any{value}
		}
		for _, entry := range entries {
			if err := change(entry.(map[string]any)); err != nil {
				t.Fatalf("change provider of %s: %v", api, err)
			}
		}
	}
	if data, err = json.Marshal(apis); err != nil {
		t.Fatal(err)
	}
	s.stack.Spec.Providers = &v1alpha2.ProvidersSpec{}
	if err := json.Unmarshal(data, s.stack.Spec.Providers); err != nil {
		t.Fatal(err)
	}
}

// moveEndpoint puts another server's address into an endpoint; the path, or
// that there is none, stays.
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
