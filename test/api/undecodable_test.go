package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// documented returns the text of a page that the expression matches, with the name of the stack in it.
func documented(t *testing.T, expression string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(testutil.Root(), "docs/troubleshooting/operator-does-not-run.md"))
	testutil.Must(t, err)
	match := regexp.MustCompile(expression).FindSubmatch(page)
	if match == nil {
		t.Fatalf("the page does not contain %s", expression)
	}
	return strings.NewReplacer("NAMESPACE", "default", "NAME", "deep").Replace(string(match[1]))
}

// With a definition that has no bounds, an API server stored stacks that it cannot decode. The two ways of the page
// remove such a stack, after which lists work again.
func TestUndecodableStack(t *testing.T) {
	var etcd string
	own, err := testutil.Start(testutil.Options{
		APIServerFlags: map[string]string{"feature-gates": "AllowUnsafeMalformedObjectDeletion=true"},
		EtcdThrough:    func(address string) (string, error) { etcd = address; return address, nil },
	})
	testutil.Must(t, err)
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	key := documented(t, "`(/registry/llamastack.io/.*)`")
	ways := map[string]func() (string, error){
		"kubectl": func() (string, error) {
			return kubectlOf(t, own, "", "delete", "--raw", documented(t, `kubectl delete --raw '(.*)'`))
		},
		"etcd": func() (string, error) {
			return "", ask(t, etcd, "deleterange", map[string][]byte{"key": []byte(key)})
		},
	}
	for name, remove := range ways {
		t.Run(name, func(t *testing.T) {
			store(t, etcd, key)
			if out, err := kubectlOf(t, own, "", "get", "llsd"); err == nil {
				t.Fatalf("the API server can decode the stack: %s", out)
			}
			if out, err := kubectlOf(t, own, "", "delete", "llsd", "deep"); err == nil {
				t.Fatalf("the plain command removed the stack: %s", out)
			}
			if out, err := remove(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := kubectlOf(t, own, "", "get", "llsd"); err != nil || !strings.Contains(out, "No resources found") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// store writes a stack to etcd that is nested too deeply to be decoded.
func store(t *testing.T, etcd, key string) {
	t.Helper()
	const levels = 10_001
	value := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"deep","namespace":"default","uid":"u"},`+
		`"spec":{"settings":%s}}`, v1alpha2.GroupVersion, v1alpha2.Kind, strings.Repeat(`{"a":`, levels)+"1"+strings.Repeat("}", levels))
	testutil.Must(t, ask(t, etcd, "put", map[string][]byte{"key": []byte(key), "value": []byte(value)}))
}

// ask sends a request to the JSON interface of etcd.
func ask(t *testing.T, etcd, method string, body map[string][]byte) error {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+etcd+"/v3/kv/"+method,
		bytes.NewReader(data))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s", response.Status)
	}
	return nil
}
