package images

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// pullWorld is a client with pull Secrets. It counts reads, and measures the memory in use before each read of a
// Secret.
type pullWorld struct {
	client.Client
	account []string
	secret  func(name string) map[string][]byte
	reads   int
	held    []int
}

func (w *pullWorld) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *corev1.ServiceAccount:
		for _, name := range w.account {
			into.ImagePullSecrets = append(into.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
		}
	case *corev1.Secret:
		w.reads++
		w.held = append(w.held, testutil.Heap())
		if into.Data = w.secret(key.Name); into.Data == nil {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
		}
	}
	return nil
}

// entries returns the value of a pull Secret's key: an entry for a repository, and many entries for other registries.
func entries(repository, user string, bytes int) []byte {
	auths := map[string]any{repository: map[string]string{"username": user, "password": "p"}}
	for i := range bytes / 200 {
		auths[fmt.Sprintf("%d.example.com", i)] = map[string]string{"username": "x", "password": strings.Repeat("p", 150)}
	}
	data, err := json.Marshal(auths)
	if err != nil {
		panic(err)
	}
	return data
}

func readPullSecrets(t *testing.T, w *pullWorld, secrets ...string) (authn.Keychain, error) {
	t.Helper()
	sources, err := json.Marshal(pullSources{Secrets: secrets, ServiceAccount: "sa"})
	testutil.Must(t, err)
	target := registry.Target{Stack: types.NamespacedName{Namespace: "ns", Name: "my"}, Credentials: string(sources)}
	return (&Reader{direct: w}).pullCredentials(t.Context(), target, []string{"registry.example.com/team/server"})
}

// TestPullCredentials checks that the operator reads the pull Secrets of both kinds, from the stack and from its
// ServiceAccount, and uses the entry with the longest name. If two names are equally long, the first one is used.
func TestPullCredentials(t *testing.T) {
	w := &pullWorld{account: []string{"older", "first"}, secret: func(name string) map[string][]byte {
		switch name {
		case "first":
			return map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":` + string(entries("https://registry.example.com", "first", 0)) + `}`)}
		case "second":
			return map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":` + string(entries("registry.example.com", "second", 0)) + `}`)}
		case "older":
			return map[string][]byte{corev1.DockerConfigKey: entries("registry.example.com/team", "older", 0)}
		case "bad":
			return map[string][]byte{corev1.DockerConfigJsonKey: []byte(`s3cret`)}
		case "without":
			return map[string][]byte{"other": []byte("x")}
		default:
			return nil
		}
	}}
	repository, err := name.NewRepository("registry.example.com/team/server")
	testutil.Must(t, err)
	user := func(secrets ...string) string {
		t.Helper()
		keychain, err := readPullSecrets(t, w, secrets...)
		testutil.Must(t, err)
		found, err := keychain.Resolve(repository)
		testutil.Must(t, err)
		config, err := found.Authorization()
		testutil.Must(t, err)
		return config.Username
	}
	if got := user("first", "gone", "without"); got != "older" || w.reads != 4 {
		t.Errorf("user %q after %d reads, want older, and 4 reads", got, w.reads)
	}
	w.account = nil
	if got := user("second", "first"); got != "second" {
		t.Errorf("user %q, want second", got)
	}
	if got := user(); got != "" {
		t.Errorf("user %q without pull Secrets", got)
	}
	if _, err := readPullSecrets(t, w, "bad"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a damaged Secret: %v", err)
	}
}

// TestPullSecretsHoldLittle checks the bounds on the number and the size of pull Secrets, and that the operator holds
// one of them at a time. (250 Secrets of 0.72 MB are F3.)
func TestPullSecretsHoldLittle(t *testing.T) {
	for kind, content := range map[string]func([]byte) map[string][]byte{
		"dockerconfigjson": func(auths []byte) map[string][]byte {
			return map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":` + string(auths) + `}`)}
		},
		"dockercfg": func(auths []byte) map[string][]byte { return map[string][]byte{corev1.DockerConfigKey: auths} },
	} {
		var all []string
		for i := range 250 {
			all = append(all, fmt.Sprintf("s%03d", i))
		}
		large := &pullWorld{account: all, secret: func(string) map[string][]byte {
			return content(entries("registry.example.com", "robot", 720_000))
		}}
		_, err := readPullSecrets(t, large)
		want := `pull Secret "s008" exceeds the limit of 6291456 bytes for all pull Secrets of a stack; remove pull Secrets`
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
		if large.reads > 12 {
			t.Errorf("%s: %d Secrets are read", kind, large.reads)
		}
		if most := large.held[len(large.held)-1] - large.held[0]; most > 1<<20 {
			t.Errorf("%s: %d KiB are held after %d Secrets", kind, most>>10, large.reads)
		}
	}
	many := &pullWorld{secret: func(string) map[string][]byte { return nil }}
	for i := range 300 {
		many.account = append(many.account, fmt.Sprint("s", i))
	}
	_, err := readPullSecrets(t, many)
	want := `the stack and ServiceAccount "sa" name 300 pull Secrets, but the operator reads at most 256 to read an image; combine the credentials in fewer Secrets`
	if err == nil || err.Error() != want || many.reads != 0 {
		t.Errorf("300 pull Secrets: %v after %d reads", err, many.reads)
	}
}

// TestCredentialsOfANewStack checks that a stack does not share what was read from images with a deleted stack that had
// the same name and named the same Secrets.
func TestCredentialsOfANewStack(t *testing.T) {
	var found []string
	for _, uid := range []types.UID{"old", "new", "new"} {
		one := testutil.NewStack(t, `{distribution: {name: starter}}`)
		one.UID = uid
		credentials, err := credentialsOf(one)
		testutil.Must(t, err)
		found = append(found, credentials)
	}
	if found[0] == found[1] || found[1] != found[2] {
		t.Errorf("the credentials are %q", found)
	}
}
