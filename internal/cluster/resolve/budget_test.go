package resolve_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// filled is a client whose objects exist under every name. Each object has `keys` keys with values of `size` bytes. The
// values of different objects differ. filled counts reads, and measures the memory in use before each of them.
type filled struct {
	client.Reader
	keys, size int
	reads      int
	held       []int
}

func (f *filled) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	into.SetNamespace(key.Namespace)
	into.SetName(key.Name)
	into.SetUID(types.UID(key.Name))
	value := func(i int) string {
		name := fmt.Sprintf("%s/%s/%d", key.Namespace, key.Name, i)
		return name + strings.Repeat("x", f.size-len(name))
	}
	switch into := into.(type) {
	case *corev1.Secret:
		f.reads++
		f.held = append(f.held, testutil.Heap())
		into.Data = map[string][]byte{}
		for i := range f.keys {
			into.Data[fmt.Sprint("k", i)] = []byte(value(i))
		}
	case *corev1.ConfigMap:
		f.reads++
		into.Data = map[string]string{"unused": strings.Repeat("u", 900<<10) + key.Name}
		for i := range f.keys {
			into.Data[fmt.Sprint("k", i)] = value(i)
		}
	}
	return nil
}

// TestBudgetOfSecrets checks that a stack whose Secrets have more than the limit in total gets a failure that names the
// limit, and that the operator stops to read and holds little. (240 Secrets of 8 keys with 120 kB each are F14.)
func TestBudgetOfSecrets(t *testing.T) {
	var uses []intent.SecretUse
	for s := range 240 {
		for k := range 8 {
			uses = append(uses, use(fmt.Sprintf("s%03d", s), fmt.Sprint("k", k), fmt.Sprintf("spec.s%d.k%d", s, k)))
		}
	}
	f := &filled{keys: 8, size: 120_000}
	_, err := resolve.Secrets(t.Context(), f, query(always, uses...))
	failure := failureOf(t, err)
	want := status.Failure{
		Condition: v1alpha2.ConditionSecretsResolved, Reason: v1alpha2.ReasonSecretValueUnusable,
		Retry: status.OnReferenceChange,
		Message: `Secret "s006" in namespace "ns" exceeds the limit of 6291456 bytes for all values of Secrets and ConfigMaps that a stack refers to: ` +
			"shorten the values, or remove references. Referenced by: spec.s6.k0",
	}
	if *failure != want {
		t.Errorf("failure %+v\nwant %+v", *failure, want)
	}
	if most := f.held[len(f.held)-1] - f.held[0]; f.reads != 7 || most > 2<<20 {
		t.Errorf("%d Secrets were read, and %d KiB held, want 7 and at most one Secret", f.reads, most>>10)
	}
}

// TestBudgetOfAll checks that ConfigMaps and Secrets count against one budget, and that a stack can use all of it.
func TestBudgetOfAll(t *testing.T) {
	budget := &resolve.Budget{}
	f := &filled{keys: 1, size: 1 << 20}
	of := resolve.NewConfigMaps(f, f)
	maps := []intent.ConfigMapUse{
		{Name: "a", Keys: []string{"k0"}, Path: "spec.a"}, {Name: "b", Keys: []string{"k0"}, Path: "spec.b"},
	}
	if _, err := of.Get(t.Context(), stack, maps, budget); err != nil {
		t.Fatal(err)
	}
	var uses []intent.SecretUse
	for i := range 32 {
		uses = append(uses, use(fmt.Sprintf("s%02d", i), "k0", "spec.s"))
	}
	q := query(always, uses...)
	q.Budget = budget
	if _, err := resolve.Secrets(t.Context(), &filled{keys: 1, size: 127 << 10}, q); err != nil {
		t.Fatalf("two ConfigMaps of 1 MiB and an environment of 4 MiB: %v", err)
	}
	if _, err := of.Get(t.Context(), stack, append(maps, maps[0]), budget); err == nil ||
		!strings.Contains(err.Error(), `ConfigMap "a" in namespace "ns" exceeds the limit of 6291456 bytes`) {
		t.Errorf("after that, two ConfigMaps of 1 MiB: %v, want a failure", err)
	}
}

// TestSecretsAreNotKept checks that only the values from which the operator derives others are kept.
func TestSecretsAreNotKept(t *testing.T) {
	uses := []intent.SecretUse{use("a", "k0", "spec.a"), use("b", "k0", "spec.b"), use("c", "k0", "spec.c")}
	uses[0].Purpose, uses[1].Purpose = intent.PurposeProvider, intent.PurposeVariable
	uses[2].Purpose = intent.PurposePassword
	values, err := resolve.Secrets(t.Context(), &filled{keys: 1, size: 20}, query(always, uses...))
	testutil.Must(t, err)
	for i, want := range []bool{false, false, true} {
		if _, kept := values.Get(uses[i].Secret, uses[i].Key); kept != want {
			t.Errorf("the value of the purpose %s is kept: %v, want %v", uses[i].Purpose, kept, want)
		}
	}
}

// TestDigestStays checks that the digest is the one that operators have always written, because another digest replaces
// all pods.
func TestDigestStays(t *testing.T) {
	operator := newWorld(secret(names.DigestKeySecret, "key", strings.Repeat("k", 32)))
	key, err := resolve.NewDigestKeys(operator, "ns").Get(t.Context())
	testutil.Must(t, err)
	b := secret("b", "y", "two")
	b.Data["x"] = []byte("one")
	q := query(always, use("b", "y", ""), use("b", "x", ""), use("a", "token", ""), use("b", "y", "again"))
	q.Key = key
	values, err := resolve.Secrets(t.Context(), newWorld(secret("a", "token", "sk-1"), b), q)
	testutil.Must(t, err)
	mac := hmac.New(sha256.New, []byte(strings.Repeat("k", 32)))
	for _, part := range []string{"a", "token", "sk-1", "b", "x", "one", "b", "y", "two"} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	if want := hex.EncodeToString(mac.Sum(nil)[:16]); values.Digest() != want {
		t.Errorf("digest %s, want %s", values.Digest(), want)
	}
	q.Uses = nil
	values, err = resolve.Secrets(t.Context(), newWorld(), q)
	if err != nil || values.Digest() != "" {
		t.Errorf("digest of no values %q, error %v; want none", values.Digest(), err)
	}
}

// TestConfigMapsKeepNeededKeys checks that the operator remembers only the keys of a ConfigMap that a stack uses. (100
// stacks with two ConfigMaps that hold 0.9 MB under another key are F2.)
func TestConfigMapsKeepNeededKeys(t *testing.T) {
	f := &filled{keys: 1, size: 100}
	of := resolve.NewConfigMaps(f, f)
	before := testutil.Heap()
	for i := range 100 {
		name := types.NamespacedName{Namespace: "ns", Name: fmt.Sprint("stack", i)}
		uses := []intent.ConfigMapUse{
			{Name: fmt.Sprint("a", i), Keys: []string{"k0"}, Purpose: intent.PurposeOverride},
			{Name: fmt.Sprint("b", i), Keys: []string{"k0"}, Purpose: intent.PurposeCABundle},
		}
		contents, err := of.Get(t.Context(), name, uses, &resolve.Budget{})
		if err != nil || len(contents) != 2 || len(contents[uses[0].Name]) != 1 {
			t.Fatalf("contents of %d ConfigMaps, %v", len(contents), err)
		}
	}
	if more := testutil.Heap() - before; more > 2<<20 {
		t.Errorf("%d KiB are kept for 200 ConfigMaps of which 100 bytes are used", more>>10)
	}
	runtime.KeepAlive(of)
}

// TestConfigMapsOfANamespace checks that the operator remembers at most 32 MiB for the stacks in a namespace, and that
// this does not affect the content of other stacks.
func TestConfigMapsOfANamespace(t *testing.T) {
	f := &filled{keys: 1, size: 1000 << 10}
	of := resolve.NewConfigMaps(f, f)
	read := func(namespace string, i int) int {
		before := f.reads
		name := types.NamespacedName{Namespace: namespace, Name: fmt.Sprint("stack", i)}
		uses := []intent.ConfigMapUse{{Name: fmt.Sprint("c", i), Keys: []string{"k0"}}}
		contents, err := of.Get(t.Context(), name, uses, &resolve.Budget{})
		if err != nil || len(contents[uses[0].Name]["k0"]) != f.size {
			t.Fatalf("stack %d: %d contents, %v", i, len(contents), err)
		}
		return f.reads - before
	}
	before := testutil.Heap()
	read("calm", 0)
	for i := range 100 {
		read("loud", i)
	}
	if more := testutil.Heap() - before; more > 40<<20 {
		t.Errorf("%d MiB are kept for 100 stacks with 1 MB each, want 32 MiB", more>>20)
	}
	if read("calm", 0) != 0 {
		t.Error("the content of a stack in another namespace was forgotten")
	}
	if read("loud", 99) != 0 || read("loud", 0) != 1 || read("loud", 0) != 0 {
		t.Error("the content that was read least recently must be forgotten, and can be read again")
	}
	shared := func(i int) int {
		before := f.reads
		name := types.NamespacedName{Namespace: "shared", Name: fmt.Sprint("stack", i)}
		uses := []intent.ConfigMapUse{{Name: "one", Keys: []string{"k0"}}}
		if _, err := of.Get(t.Context(), name, uses, &resolve.Budget{}); err != nil {
			t.Fatal(err)
		}
		return f.reads - before
	}
	all := 0
	for i := range 100 {
		all += shared(i)
	}
	if all += shared(0); all != 1 {
		t.Errorf("100 stacks that refer to one ConfigMap read it %d times", all)
	}
	for i := range 100 {
		of.Forget(types.NamespacedName{Namespace: "loud", Name: fmt.Sprint("stack", i)})
		of.Forget(types.NamespacedName{Namespace: "shared", Name: fmt.Sprint("stack", i)})
	}
	of.Forget(types.NamespacedName{Namespace: "calm", Name: "stack0"})
	if more := testutil.Heap() - before; more > 1<<20 {
		t.Errorf("%d KiB are kept after the stacks were deleted", more>>10)
	}
	runtime.KeepAlive(of)
}

// TestConfigMapsOfAllNamespaces checks that the operator remembers a bounded amount for all namespaces together, and
// forgets the content of the namespaces with the most.
func TestConfigMapsOfAllNamespaces(t *testing.T) {
	f := &filled{keys: 1, size: 1000 << 10}
	of := resolve.NewConfigMaps(f, f)
	read := func(namespace string, i int) {
		name := types.NamespacedName{Namespace: namespace, Name: fmt.Sprint("stack", i)}
		uses := []intent.ConfigMapUse{{Name: fmt.Sprint("c-", namespace, i), Keys: []string{"k0"}}}
		if _, err := of.Get(t.Context(), name, uses, &resolve.Budget{}); err != nil {
			t.Fatal(err)
		}
	}
	before := testutil.Heap()
	read("calm", 0)
	for i := range 30 * 8 {
		read(fmt.Sprint("loud", i%8), i)
	}
	if more := testutil.Heap() - before; more > 110<<20 {
		t.Errorf("%d MiB are kept for eight namespaces with 30 MB each, want 96 MiB", more>>20)
	}
	reads := f.reads
	if read("calm", 0); f.reads != reads {
		t.Error("the content of a namespace with one stack was forgotten")
	}
	runtime.KeepAlive(of)
}

// TestConfigMapsOfManyKeys checks that the names of keys that a ConfigMap lacks are not kept. Their stack's spec is not
// in memory.
func TestConfigMapsOfManyKeys(t *testing.T) {
	of := resolve.NewConfigMaps(&filled{keys: 1, size: 64}, &filled{keys: 1, size: 64})
	before := testutil.Heap()
	for i := range 70 {
		use := intent.ConfigMapUse{Name: fmt.Sprint("c", i), Keys: []string{"k0"}}
		for k := range 5000 {
			use.Keys = append(use.Keys, fmt.Sprintf("%0*d", 253, i*5000+k))
		}
		stack := types.NamespacedName{Namespace: "loud", Name: fmt.Sprint("stack", i)}
		if _, err := of.Get(t.Context(), stack, []intent.ConfigMapUse{use}, &resolve.Budget{}); err == nil {
			t.Fatal("a missing key is not reported")
		}
	}
	if more := testutil.Heap() - before; more > 1<<20 {
		t.Errorf("%d KiB are kept for the names of keys", more>>10)
	}
	runtime.KeepAlive(of)
}

// tiny is a client whose ConfigMaps have a number of keys with few bytes. The values of different ConfigMaps differ.
type tiny struct {
	client.Reader
	keys int
}

func (f *tiny) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	into.SetUID(types.UID(key.Name))
	if configMap, ok := into.(*corev1.ConfigMap); ok {
		configMap.Data = make(map[string]string, f.keys)
		for i := range f.keys {
			configMap.Data[fmt.Sprintf("%x", i)] = fmt.Sprintf("%s%x", key.Name, i)
		}
	}
	return nil
}

// TestConfigMapsOfTinyKeys checks that a key counts as much as it needs in memory. A ConfigMap of which a stack uses
// all keys can have tens of thousands of them.
func TestConfigMapsOfTinyKeys(t *testing.T) {
	f := &tiny{keys: 10_000}
	of := resolve.NewConfigMaps(f, f)
	before := testutil.Heap()
	for i := range 40 {
		use := intent.ConfigMapUse{Name: fmt.Sprint("c", i), Whole: true}
		stack := types.NamespacedName{Namespace: "loud", Name: fmt.Sprint("stack", i)}
		if _, err := of.Get(t.Context(), stack, []intent.ConfigMapUse{use}, &resolve.Budget{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		testutil.Heap() // package unique needs several collections to free its handles
	}
	if more := testutil.Heap() - before; more > 48<<20 {
		t.Errorf("%d MiB are kept for ConfigMaps with many keys, want 32 MiB", more>>20)
	}
	runtime.KeepAlive(of)
}
