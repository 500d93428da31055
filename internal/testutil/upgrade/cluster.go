package upgrade

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	clientdiscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// Cluster is an API server whose stored objects can be read from etcd.
type Cluster struct {
	*testutil.Cluster

	etcd string
}

// Start starts a cluster without the CustomResourceDefinition of stacks.
func Start(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{}
	c.Cluster = testutil.StartCluster(t, testutil.Options{Bare: true, EtcdThrough: func(etcd string) (string, error) {
		c.etcd = etcd
		return etcd, nil
	}})
	return c
}

// Older returns the predecessor operator's CustomResourceDefinition. It has only the version v1alpha1.
func Older(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return read(t, "test/api/testdata/definition-before.yaml")
}

// Today returns this operator's CustomResourceDefinition, with the test's conversion webhook.
func Today(t testing.TB, webhook *Webhook) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	definition := read(t, "config/crd/bases/llamastack.io_llamastackdistributions.yaml")
	definition.Spec.Conversion = webhook.conversion()
	return definition
}

func read(t testing.TB, file string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testutil.Root(), file))
	if err != nil {
		t.Fatal(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, definition); err != nil {
		t.Fatal(err)
	}
	return definition
}

// Install creates or replaces the definition, and waits until the API server serves it.
func (c *Cluster) Install(t testing.TB, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	if err := c.Replace(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	c.AwaitStorage(t)
}

// Replace creates or replaces the definition.
func (c *Cluster) Replace(ctx context.Context, definition *apiextensionsv1.CustomResourceDefinition) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now := &apiextensionsv1.CustomResourceDefinition{}
		err := c.Get(ctx, client.ObjectKey{Name: definition.Name}, now)
		if apierrors.IsNotFound(err) {
			return c.Create(ctx, definition.DeepCopy())
		}
		if err != nil {
			return err
		}
		now.Spec = *definition.Spec.DeepCopy()
		return c.Update(ctx, now)
	})
}

// AwaitStorage waits until the API server serves the versions of the definition and lists its storage version.
func (c *Cluster) AwaitStorage(t testing.TB) {
	t.Helper()
	api, err := clientdiscovery.NewDiscoveryClientForConfig(c.Plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "the versions to be served", func() (bool, error) {
		definition := c.Definition(t)
		for _, version := range definition.Spec.Versions {
			group := definition.Spec.Group + "/" + version.Name
			found, err := api.ServerResourcesForGroupVersion(group)
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			if err != nil || !slices.ContainsFunc(found.APIResources, func(r metav1.APIResource) bool {
				return r.Name == definition.Spec.Names.Plural && r.StorageVersionHash == storageHash(definition)
			}) {
				return false, err
			}
		}
		return true, nil
	})
}

func storageHash(definition *apiextensionsv1.CustomResourceDefinition) string {
	for _, version := range definition.Spec.Versions {
		if version.Storage {
			return discovery.StorageVersionHash(definition.Spec.Group, version.Name, definition.Spec.Names.Kind)
		}
	}
	return ""
}

// Definition returns the definition of stacks in the cluster.
func (c *Cluster) Definition(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: names.CustomResourceDefinition}, definition); err != nil {
		t.Fatal(err)
	}
	return definition
}

// Stored is an object as stored in etcd.
type Stored struct {
	// APIVersion is the version in which the object is stored.
	APIVersion string `json:"apiVersion"`
	// Writes is the number of times that the object was written.
	Writes int `json:"-"`
}

// Stored reads every stack from etcd. The keys of the result have the form namespace/name.
func (c *Cluster) Stored(t testing.TB) map[string]Stored {
	t.Helper()
	prefix := "/registry/" + v1alpha2.GroupVersion.Group + "/llamastackdistributions/"
	query, err := json.Marshal(map[string][]byte{
		"key":       []byte(prefix),
		"range_end": []byte(strings.TrimSuffix(prefix, "/") + "0"),
	})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.etcd+"/v3/kv/range",
		bytes.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		KVs []struct{ Key, Value, Version string } `json:"kvs"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("etcd responds with status %s: %v", response.Status, err)
	}
	stored := map[string]Stored{}
	for _, kv := range answer.KVs {
		key, one, err := decode(kv.Key, kv.Value, kv.Version)
		if err != nil {
			t.Fatal(err)
		}
		stored[strings.TrimPrefix(key, prefix)] = one
	}
	return stored
}

// decode decodes an entry from etcd's HTTP interface.
func decode(key, value, version string) (string, Stored, error) {
	var stored Stored
	name, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return "", stored, fmt.Errorf("decode a key: %w", err)
	}
	data, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return "", stored, fmt.Errorf("decode a value: %w", err)
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return "", stored, fmt.Errorf("decode %s: %w", name, err)
	}
	stored.Writes, err = strconv.Atoi(version)
	return string(name), stored, err
}

// Versions returns the number of stored objects for each version. The keys do not contain the group.
func Versions(stored map[string]Stored) map[string]int {
	counts := map[string]int{}
	for _, one := range stored {
		counts[strings.TrimPrefix(one.APIVersion, v1alpha2.GroupVersion.Group+"/")]++
	}
	return counts
}
