package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var stack = types.NamespacedName{Namespace: "ns", Name: "my"}

func secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Data:       map[string][]byte{key: []byte(value)},
	}
}

// world is a client that counts its reads and fails on request.
type world struct {
	client.WithWatch
	gets []string
	fail error
}

func newWorld(objects ...client.Object) *world {
	w := &world{}
	w.WithWatch = fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object,
			options ...client.GetOption,
		) error {
			w.gets = append(w.gets, key.Name)
			if w.fail != nil {
				return w.fail
			}
			return c.Get(ctx, key, into, options...)
		},
	}).Build()
	return w
}

func always(string) bool { return true }

func query(text func(string) bool, uses ...intent.SecretUse) resolve.SecretQuery {
	return resolve.SecretQuery{
		Namespace: "ns", Cache: fake.NewFakeClient(), Uses: uses, Text: text,
		Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

func use(name, key, path string) intent.SecretUse {
	return intent.SecretUse{Secret: name, Key: key, Path: path, EnvVar: "LLSD_X"}
}

func failureOf(t *testing.T, err error) *status.Failure {
	t.Helper()
	failure, ok := errors.AsType[*status.Failure](err)
	if !ok {
		t.Fatalf("got %v, want a failure", err)
	}
	return failure
}

func TestSecrets(t *testing.T) {
	long := secret("l", "long", strings.Repeat("x", 1<<20))
	long.Data["fits"] = []byte(strings.Repeat("x", 131064))
	w := newWorld(secret("a", "token", "sk-1"), secret("b", "empty", ""), secret("c", "zero", "x\x00y"),
		secret("n", "number", "12345"), long)
	for _, tc := range []struct {
		name    string
		uses    []intent.SecretUse
		reason  string
		message string
	}{
		{name: "none"},
		{name: "found", uses: []intent.SecretUse{use("a", "token", "spec.x")}},
		{
			name: "missing, with two uses", uses: []intent.SecretUse{use("gone", "k", "spec.x"), use("gone", "l", "spec.y")},
			reason:  v1alpha2.ReasonSecretNotFound,
			message: `Secret "gone" not found in namespace "ns". Referenced by: spec.x, spec.y`,
		},
		{
			name: "several mistakes; the reason is that of the first one",
			uses: []intent.SecretUse{
				use("a", "other", "spec.x"), use("gone", "k", "spec.y"), use("b", "empty", "spec.z"),
				use("c", "zero", "spec.w"),
			},
			reason: v1alpha2.ReasonSecretKeyMissing,
			message: `Key "other" not found in Secret "a" in namespace "ns". Referenced by: spec.x` + "\n" +
				`Secret "gone" not found in namespace "ns". Referenced by: spec.y` + "\n" +
				`Key "empty" of Secret "b" in namespace "ns" is empty; set a value. Referenced by: spec.z` + "\n" +
				`Key "zero" of Secret "c" in namespace "ns" contains a zero byte, which an environment variable cannot contain; use another value. ` +
				"Referenced by: spec.w",
		},
		{
			name: "longer than a variable", uses: []intent.SecretUse{use("l", "long", "spec.x"), use("l", "fits", "spec.y")},
			reason:  v1alpha2.ReasonSecretValueUnusable,
			message: `Key "long" of Secret "l" in namespace "ns" is longer than the 131064 bytes that an environment variable can contain; shorten the value. Referenced by: spec.x`,
		},
		{
			name: "number", uses: []intent.SecretUse{use("n", "number", "spec.x")}, reason: v1alpha2.ReasonSecretValueUnusable,
			message: `Key "number" of Secret "n" in namespace "ns" looks like a number, so the server converts and then rejects the value; ` +
				`use another value. Referenced by: spec.x`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := resolve.Secrets(t.Context(), w, query(always, tc.uses...))
			if tc.reason == "" {
				testutil.Must(t, err)
				return
			}
			failure := failureOf(t, err)
			want := status.Failure{
				Condition: v1alpha2.ConditionSecretsResolved, Reason: tc.reason, Message: tc.message,
				Retry: status.OnReferenceChange,
			}
			if diff := cmp.Diff(want.Message, failure.Message); diff != "" || *failure != want {
				t.Errorf("failure %+v\nmessage (-want +got):\n%s", failure, diff)
			}
		})
	}
	if _, err := resolve.Secrets(t.Context(), w, query(func(string) bool { return false },
		use("n", "number", "spec.x"))); err != nil {
		t.Errorf("the error for a number in a field for numbers is %v", err)
	}
}

func TestSecretsAreReadOnce(t *testing.T) {
	w := newWorld(secret("a", "token", "sk-1"))
	uses := []intent.SecretUse{
		use("a", "token", "spec.x"), use("a", "token", "spec.y"), use("gone", "k", "spec.z"),
		use("gone", "k", "spec.w"),
	}
	_, err := resolve.Secrets(t.Context(), w, query(always, uses...))
	if err == nil || len(w.gets) != 2 {
		t.Errorf("reads %v, error %v", w.gets, err)
	}
	w.fail = errors.New("no connection")
	_, err = resolve.Secrets(t.Context(), w, query(always, uses...))
	if _, ok := errors.AsType[*status.Failure](err); ok || !errors.Is(err, w.fail) {
		t.Errorf("Secrets: %v, want the cause and not a *Failure", err)
	}
}

func TestValuesKeepTheirSecret(t *testing.T) {
	w := newWorld(secret("a", "token", "sk-canary"))
	connection := use("a", "token", "spec.x")
	connection.Purpose = intent.PurposeConnectionString
	values, err := resolve.Secrets(t.Context(), w, query(always, connection))
	testutil.Must(t, err)
	if value, ok := values.Get("a", "token"); !ok || string(value) != "sk-canary" {
		t.Errorf("Get: %q, %v", value, ok)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, values); strings.Contains(text, "canary") || strings.Contains(text, "115 107") {
			t.Errorf("%s prints %s", format, text)
		}
	}
}

// TestDigestOfANamespace checks that each namespace has its own digest key. The digests therefore reveal nothing about
// the values in other namespaces to a user who can write Secrets in one namespace.
func TestDigestOfANamespace(t *testing.T) {
	w := newWorld()
	key, err := resolve.NewDigestKeys(w, "op").Get(t.Context())
	testutil.Must(t, err)
	digest := func(key resolve.DigestKey) string {
		q := query(always, use("a", "token", ""))
		q.Key = key
		values, err := resolve.Secrets(t.Context(), newWorld(secret("a", "token", "sk-1")), q)
		testutil.Must(t, err)
		return values.Digest()
	}
	digests, ids := map[string]string{}, map[string]string{}
	for name, key := range map[string]resolve.DigestKey{"of all": key, "one": key.For("one"), "two": key.For("two")} {
		if other, ok := digests[digest(key)]; ok {
			t.Errorf("the digest of the key %q is the same as that of the key %q", name, other)
		}
		if other, ok := ids[key.ID]; ok {
			t.Errorf("the key %q has the name of the key %q", name, other)
		}
		digests[digest(key)], ids[key.ID] = name, name
	}
	if again := digest(key.For("one")); digests[again] != "one" {
		t.Error("the digest differs between two reconciles, which would replace pods without a reason")
	}
}

func TestDigestKeyIsMadeOnce(t *testing.T) {
	w := newWorld()
	first := resolve.NewDigestKeys(w, "op")
	one, err := first.Get(t.Context())
	testutil.Must(t, err)
	reads := len(w.gets)
	if again, err := first.Get(t.Context()); err != nil || again.ID != one.ID || len(w.gets) != reads {
		t.Errorf("second Get: %v, %v, %d reads", again, err, len(w.gets)-reads)
	}
	restarted, err := resolve.NewDigestKeys(w, "op").Get(t.Context())
	if err != nil || restarted.ID != one.ID {
		t.Errorf("after a restart: %v, %v; want %v", restarted, err, one)
	}
	var stored corev1.Secret
	testutil.Must(t, w.Get(t.Context(), types.NamespacedName{Namespace: "op", Name: names.DigestKeySecret}, &stored))
	if len(stored.Data["key"]) != 32 || stored.Immutable == nil || !*stored.Immutable {
		t.Errorf("stored key has %d bytes, immutable %v", len(stored.Data["key"]), stored.Immutable)
	}
	for _, format := range []string{"%v", "%#v"} {
		if text := fmt.Sprintf(format, one); text != one.ID {
			t.Errorf("%s prints %s", format, text)
		}
	}
}

// TestDigestKeyOfAnotherOperator checks that, when two operators run, the second operator uses the first operator's
// key.
func TestDigestKeyOfAnotherOperator(t *testing.T) {
	w := newWorld()
	other := resolve.NewDigestKeys(w, "op")
	missOnce := true
	racing := interceptor.NewClient(w, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object,
			options ...client.GetOption,
		) error {
			err := c.Get(ctx, key, into, options...)
			if missOnce {
				missOnce = false
				if _, err := other.Get(ctx); err != nil {
					t.Error(err)
				}
			}
			return err
		},
	})
	mine, err := resolve.NewDigestKeys(racing, "op").Get(t.Context())
	testutil.Must(t, err)
	if theirs, err := other.Get(t.Context()); err != nil || mine.ID != theirs.ID {
		t.Errorf("two keys: %v and %v, %v", mine, theirs, err)
	}
}

func TestDigestKeyThatIsTooShort(t *testing.T) {
	short := secret(names.DigestKeySecret, "key", "short")
	if _, err := resolve.NewDigestKeys(newWorld(short), "ns").Get(t.Context()); err == nil || !strings.Contains(err.Error(), "delete the Secret") {
		t.Errorf("Get: %v, want an error with a remedy", err)
	}
}

func configMap(name, key, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)},
		Data:       map[string]string{key: value}, BinaryData: map[string][]byte{"binary": {0xFF}},
	}
}

func TestConfigMaps(t *testing.T) {
	direct := newWorld(configMap("c", "config.yaml", "one"))
	configMaps := resolve.NewConfigMaps(direct.WithWatch, direct)
	uses := []intent.ConfigMapUse{{Name: "c", Whole: true, Keys: []string{"config.yaml"}, Path: "spec.overrideConfig"}}
	read := func(want string) {
		t.Helper()
		contents, err := configMaps.Get(t.Context(), stack, uses, &resolve.Budget{})
		testutil.Must(t, err)
		if got := string(contents["c"]["config.yaml"]); got != want || len(contents["c"]["binary"]) != 1 {
			t.Errorf("content %q, want %q", got, want)
		}
	}
	// The interceptor counts the calls to both readers of the fake client: a full read counts as two reads, and a
	// remembered read counts as one.
	cost := func(do func()) int {
		before := len(direct.gets)
		do()
		return len(direct.gets) - before
	}
	first := cost(func() { read("one") })
	if second := cost(func() { read("one") }); second != first-1 {
		t.Errorf("a second read costs %d reads, the first %d", second, first)
	}
	changed := configMap("c", "config.yaml", "two")
	testutil.Must(t, direct.Update(t.Context(), changed))
	read("two")
	configMaps.Forget(stack)
	if again := cost(func() { read("two") }); again != first {
		t.Errorf("a read after Forget costs %d reads, want %d", again, first)
	}
}

func TestConfigMapsThatAreMissing(t *testing.T) {
	w := newWorld(configMap("c", "config.yaml", "one"))
	_, err := resolve.NewConfigMaps(w, w).Get(t.Context(), stack, []intent.ConfigMapUse{
		{Name: "c", Keys: []string{"a.crt", "b.crt"}, Path: "spec.x"},
		{Name: "gone", Keys: []string{"k"}, Path: "spec.y"},
		{Name: "c", AnyOf: []string{"run.yaml", "config.yaml"}, Path: "spec.z"},
		{Name: "c", AnyOf: []string{"run.yaml", "b.crt"}, Path: "spec.z"},
	}, &resolve.Budget{})
	failure, ok := errors.AsType[*status.Failure](err)
	if !ok {
		t.Fatalf("Get: %v, want a failure", err)
	}
	want := status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonConfigMapKeyMissing,
		Retry: status.OnReferenceChange,
		Message: `Key "a.crt" not found in ConfigMap "c" in namespace "ns". Referenced by: spec.x
Key "b.crt" not found in ConfigMap "c" in namespace "ns". Referenced by: spec.x
ConfigMap "gone" not found in namespace "ns". Referenced by: spec.y
ConfigMap "c" in namespace "ns" has none of the keys run.yaml, b.crt; add one of these keys. Referenced by: spec.z`,
	}
	if diff := cmp.Diff(want.Message, failure.Message); diff != "" || *failure != want {
		t.Errorf("failure %+v\nmessage (-want +got):\n%s", failure, diff)
	}
	w.fail = errors.New("no connection")
	_, err = resolve.NewConfigMaps(w, w).Get(t.Context(), stack, []intent.ConfigMapUse{{Name: "c"}}, &resolve.Budget{})
	if !errors.Is(err, w.fail) {
		t.Errorf("Get: %v, want the cause", err)
	}
}

// TestConfigMapsOfAnotherNamespace checks that a ConfigMap in another namespace is read only if the ConfigMap allows
// it, and that the error does not reveal whether the ConfigMap exists.
func TestConfigMapsOfAnotherNamespace(t *testing.T) {
	shared := func(name, allowed string) *corev1.ConfigMap {
		found := configMap(name, "config.yaml", "of "+name)
		found.Namespace = "shared"
		found.Annotations = map[string]string{names.AnnotationAllowNamespaces: allowed}
		return found
	}
	w := newWorld(configMap("open", "config.yaml", "own"), shared("open", "other, ns"), shared("closed", "other"))
	use := func(name string) intent.ConfigMapUse {
		return intent.ConfigMapUse{Namespace: "shared", Name: name, Keys: []string{"config.yaml"}, Path: "spec.x"}
	}
	contents, err := resolve.NewConfigMaps(w, w).Get(t.Context(), stack, []intent.ConfigMapUse{
		use("open"), {Name: "open", Keys: []string{"config.yaml"}},
	}, &resolve.Budget{})
	if err != nil || string(contents["shared/open"]["config.yaml"]) != "of open" ||
		string(contents["open"]["config.yaml"]) != "own" {
		t.Errorf("contents %q, error %v", contents, err)
	}
	limited := resolve.NewConfigMaps(w, w, "ns", "other")
	contents, err = limited.Get(t.Context(), stack, []intent.ConfigMapUse{use("open")}, &resolve.Budget{})
	if err != nil || string(contents["open"]["config.yaml"]) != "own" || contents["shared/open"] != nil {
		t.Errorf("a ConfigMap outside the operator's namespaces: contents %q, error %v, want those of the stack's own ConfigMap", contents, err)
	}
	only := use("open")
	only.NoOther = true
	if _, err := limited.Get(t.Context(), stack, []intent.ConfigMapUse{only}, &resolve.Budget{}); err == nil ||
		!strings.Contains(err.Error(), "does not watch that namespace") {
		t.Errorf("a ConfigMap outside the operator's namespaces: got %v, want an error", err)
	}
	for _, name := range []string{"closed", "gone"} {
		_, err := resolve.NewConfigMaps(w, w).Get(t.Context(), stack, []intent.ConfigMapUse{use(name)}, &resolve.Budget{})
		failure, ok := errors.AsType[*status.Failure](err)
		want := `ConfigMap "` + name + `" in namespace "shared" does not exist, or its annotation llamastack.io/allow-namespaces does not contain the namespace "ns"; create the ConfigMap, or add the namespace "ns" to the annotation. Referenced by: spec.x`
		if !ok || failure.Message != want || failure.Reason != v1alpha2.ReasonConfigMapNotFound {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestKeptBase(t *testing.T) {
	kept := configMap("my-base-1", names.BaseFile, "version: 2")
	kept.OwnerReferences = []metav1.OwnerReference{{UID: "u", Controller: new(true)}}
	w := newWorld(kept, configMap("foreign", names.BaseFile, "evil"))
	configMaps := resolve.NewConfigMaps(w, w)
	for name, want := range map[string]string{"my-base-1": "version: 2", "foreign": "", "gone": ""} {
		if got, err := configMaps.KeptBase(t.Context(), stack, "u", name); err != nil || string(got) != want {
			t.Errorf("KeptBase(%s) = %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestSecretsHoldLittle checks that only the values to which a stack refers are kept in memory. Each Secret has 2 MB.
func TestSecretsHoldLittle(t *testing.T) {
	var uses []intent.SecretUse
	for i := range 100 {
		uses = append(uses, use(fmt.Sprint("s", i), "k0", "spec.x"))
	}
	f := &filled{keys: 100, size: 20_000}
	_, err := resolve.Secrets(t.Context(), f, query(always, uses...))
	testutil.Must(t, err)
	if more := f.held[len(f.held)-1] - f.held[0]; len(f.held) != len(uses) || more > 4<<20 {
		t.Errorf("%d MiB are in use after %d Secrets", more>>20, len(f.held))
	}
}

// TestSecretsAsNewAsCached checks that each read requests a version of the Secret that is at least as new as the cached
// metadata.
func TestSecretsAsNewAsCached(t *testing.T) {
	cached := secret("known", "token", "x")
	cached.ResourceVersion = "7"
	w := newWorld(secret("known", "token", "x"), secret("new", "token", "y"))
	asked := map[string]string{}
	direct := interceptor.NewClient(w, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object,
			options ...client.GetOption,
		) error {
			asked[key.Name] = (&client.GetOptions{}).ApplyOptions(options).AsGetOptions().ResourceVersion
			return c.Get(ctx, key, into, options...)
		},
	})
	q := query(always, use("known", "token", "spec.x"), use("new", "token", "spec.y"))
	q.Cache = fake.NewFakeClient(cached)
	if _, err := resolve.Secrets(t.Context(), direct, q); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"known": "7", "new": ""}, asked); diff != "" {
		t.Errorf("requested versions (-want +got):\n%s", diff)
	}
	broken := newWorld()
	broken.fail = errors.New("no cache")
	q.Cache = broken
	if _, err := resolve.Secrets(t.Context(), direct, q); err == nil ||
		!strings.Contains(err.Error(), `read cached Secret "known"`) {
		t.Errorf("Secrets: %v, want the error of the cache", err)
	}
}
