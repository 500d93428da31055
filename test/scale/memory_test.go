package scale_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// flood is a set of valid objects with which a tenant with ordinary rights tries to exhaust the operator's memory.
type flood struct {
	name string
	// objects is the number of objects, and create creates one of them.
	objects int
	create  func(ctx context.Context, c client.Client, namespace string, i int) error
}

// floods lists objects that operators once kept in memory. The comments list what each flood contains.
var floods = []flood{
	{"labels", 160, createLabels},               // stacks with the longest metadata; others with 1.2 MB of labels
	{"configmaps", 150, createConfigMaps},       // 0.9 MB in each of two ConfigMaps of which a stack uses one key
	{"pullsecrets", 254, createPullSecrets},     // four stacks with 250 pull Secrets of 0.7 MB
	{"secretreferences", 244, createReferences}, // four stacks with 1,900 references to values of 120 kB
}

// BenchmarkTenantsMemory measures how each flood in one namespace affects the operator's memory and a stack in another
// namespace. Run it with -benchtime=1x, as `make bench-tenants` does.
func BenchmarkTenantsMemory(b *testing.B) {
	ctrl.SetLogger(logr.Discard())
	for i := range floods {
		b.Run(floods[i].name, func(b *testing.B) {
			for b.Loop() {
				m := measureFlood(b, &floods[i])
				b.ReportMetric(max(m.most, m.restarted), "MiB")
				b.ReportMetric(slices.Max(m.waited), "s-status")
				fmt.Fprintln(os.Stdout, m.table(floods[i].name))
			}
		})
	}
}

// flooded contains the results of one flood.
type flooded struct {
	most, restarted float64 // MiB
	// waited and bare are the results of firstStatus during the flood. started is the time in seconds from the restart of
	// the operator until a new plain stack of another namespace has a status.
	waited, bare []float64
	started      float64
}

// table returns a table of the figures and their limits.
func (m *flooded) table(name string) string {
	var text strings.Builder
	row := func(what, figure, limit string) { fmt.Fprintf(&text, "| %s | %s | %s |\n", what, figure, limit) }
	fmt.Fprintf(&text, "\nflood of %s\n\n| measure | figure | limit |\n|---|---|---|\n", name)
	row("maximum resident memory", fmt.Sprintf("%.0f MiB", m.most), "400 MiB")
	row("the same after a restart", fmt.Sprintf("%.0f MiB", m.restarted), "400 MiB")
	row("first status of a plain stack of another namespace: median, slowest",
		fmt.Sprintf("%.2f s, %.2f s of %d", median(m.waited), slices.Max(m.waited), len(m.waited)), "2 s more than the next row")
	row("the same watch and writes by a bare client",
		fmt.Sprintf("%.2f s, %.2f s", median(m.bare), slices.Max(m.bare)), "")
	row("the same, from the start of a restarted operator", fmt.Sprintf("%.1f s", m.started), "30 s")
	return text.String()
}

// measureFlood measures one flood on a control plane of its own.
func measureFlood(b *testing.B, f *flood) (m flooded) {
	b.Helper()
	c := startCluster(b, inLoud, inCalm)
	o := c.startOperator(b)
	c.statusOf(b, "before")
	m.waited, m.bare = c.firstStatus(b, func() error {
		group, ctx := errgroup.WithContext(b.Context())
		group.SetLimit(workers)
		for i := range f.objects {
			group.Go(func() error { return patiently(func() error { return f.create(ctx, c, inLoud, i) }) })
		}
		return group.Wait()
	})
	c.rests(b)
	m.most = o.most(b)
	o.stop(b)

	begin := time.Now()
	o = c.startOperator(b)
	c.statusOf(b, "after")
	m.started = time.Since(begin).Seconds()
	c.rests(b)
	m.restarted = o.most(b)
	o.stop(b)
	return m
}

// patiently repeats a call while a busy API server does not answer in time. Such a call may have created the object.
func patiently(create func() error) error {
	for {
		err := create()
		if !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) && !apierrors.IsTooManyRequests(err) {
			return client.IgnoreAlreadyExists(err)
		}
	}
}

// statusOf creates a plain stack in the other namespace, and returns the time in seconds until it has a status.
func (c *cluster) statusOf(b *testing.B, name string) float64 {
	b.Helper()
	stack := c.newStack(b, inCalm, name)
	started := time.Now()
	c.create(b, stack)
	eventually(b, poll/10, "the status of a plain stack", func() (bool, error) {
		err := c.Get(b.Context(), client.ObjectKeyFromObject(stack), stack)
		return stack.Status.Phase != "", err
	})
	return time.Since(started).Seconds()
}

// noise returns random text, which does not share memory with other text.
func noise(bytes int) string {
	var text strings.Builder
	for text.Len() < bytes {
		fmt.Fprintf(&text, "%016x", rand.Uint64())
	}
	return text.String()[:bytes]
}

// newFlooding returns a stack with a specification in YAML.
func newFlooding(namespace, name, spec string) (*v1alpha2.LlamaStackDistribution, error) {
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return stack, yaml.UnmarshalStrict([]byte(spec), &stack.Spec)
}

// createLabels creates an object that the operator caches: a stack with the longest metadata that the policy admits, or
// a ConfigMap, Secret, Service or Pod with labels of 1.2 MB.
func createLabels(ctx context.Context, c client.Client, namespace string, i int) error {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("l", i), Labels: names.Labels("z")}
	meta.Labels[names.LabelApp] = names.App
	if i < 70 {
		stack, err := newFlooding(namespace, meta.Name, "distribution: {name: starter}")
		if err != nil {
			return err
		}
		stack.ObjectMeta = longest(meta)
		return c.Create(ctx, stack)
	}
	for n := range 9500 {
		meta.Labels[fmt.Sprintf("k%05d%s", n, strings.Repeat("x", 50))] = strings.Repeat("v", 63)
	}
	switch {
	case i < 90:
		return c.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta})
	case i < 100:
		return c.Create(ctx, &corev1.Secret{ObjectMeta: meta})
	case i < 130:
		ports := []corev1.ServicePort{{Port: 80}}
		return c.Create(ctx, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: ports}})
	default:
		spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "x"}}}
		return c.Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: spec})
	}
}

// longest adds the longest metadata that the policy and the API server admit in a stack.
func longest(meta metav1.ObjectMeta) metav1.ObjectMeta {
	const most = 128
	long := strings.Repeat("x", 253)
	domain := strings.Repeat(strings.Repeat("d", 60)+".", 4) + "example/k"
	meta.Annotations = map[string]string{}
	for n := range most {
		name := fmt.Sprintf("%s%03d%s", domain, n, strings.Repeat("x", 59))
		if len(meta.Labels) < most {
			meta.Labels[name] = strings.Repeat("v", 63)
		}
		meta.Annotations[name] = noise(1700)
		meta.Finalizers = append(meta.Finalizers, name)
		meta.OwnerReferences = append(meta.OwnerReferences, metav1.OwnerReference{
			APIVersion: "example.com/v1", Kind: long, Name: long, UID: types.UID(fmt.Sprintf("%03d%s", n, long[:250])),
		})
		if n > 0 { // the API server adds one
			meta.ManagedFields = append(meta.ManagedFields, metav1.ManagedFieldsEntry{
				Manager: fmt.Sprint("m", n), Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
				APIVersion: v1alpha2.GroupVersion.String(), FieldsV1: metav1.NewFieldsV1(`{"f:` + noise(2400) + `":{}}`),
			})
		}
	}
	return meta
}

// createConfigMaps creates a stack, and two ConfigMaps to which it refers.
func createConfigMaps(ctx context.Context, c client.Client, namespace string, i int) error {
	for name, key := range map[string]string{"override": "config.yaml", "authorities": "ca-bundle.crt"} {
		err := c.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint(name, i)},
			Data:       map[string]string{key: "version: 2\nimage_name: own\nproviders: {}\n", "unused": noise(930_000)},
		})
		if client.IgnoreAlreadyExists(err) != nil {
			return err
		}
	}
	stack, err := newFlooding(namespace, fmt.Sprint("c", i), fmt.Sprintf(`
distribution: {name: starter}
overrideConfig: {configMapName: override%d}
networking: {tls: {caBundle: {configMapName: authorities%d}}}
`, i, i))
	if err != nil {
		return err
	}
	return c.Create(ctx, stack)
}

// createPullSecrets creates 250 pull Secrets, and then stacks that name all of them and an image that must be read.
func createPullSecrets(ctx context.Context, c client.Client, namespace string, i int) error {
	const secrets = 250
	if i < secrets {
		content, err := json.Marshal(map[string]any{"auths": map[string]any{
			fmt.Sprintf("r%d.example", i): map[string]string{"username": "u", "password": noise(720_000)},
		}})
		if err != nil {
			return err
		}
		return c.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("pull", i)},
			Type:       corev1.SecretTypeDockerConfigJson,
			Data:       map[string][]byte{corev1.DockerConfigJsonKey: content},
		})
	}
	var pulls []string
	for n := range secrets {
		pulls = append(pulls, fmt.Sprintf("{name: pull%d}", n))
	}
	stack, err := newFlooding(namespace, fmt.Sprint("p", i), fmt.Sprintf(`
distribution: {image: "127.0.0.1:1/x/y:1"}
workload: {overrides: {imagePullSecrets: [%s]}}
`, strings.Join(pulls, ", ")))
	if err != nil {
		return err
	}
	return c.Create(ctx, stack)
}

// createReferences creates 240 Secrets with eight values of 120 kB, and then stacks that refer to all values.
func createReferences(ctx context.Context, c client.Client, namespace string, i int) error {
	const secrets, keys, each = 240, 8, 60
	if i < secrets {
		data := map[string]string{}
		for k := range keys {
			data[fmt.Sprint("k", k)] = noise(120_000)
		}
		return c.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("r", i)}, StringData: data,
		})
	}
	var spec strings.Builder
	spec.WriteString("distribution: {name: starter}\nproviders:\n  inference:\n")
	for n := range secrets * keys {
		if n%each == 0 {
			fmt.Fprintf(&spec, "  - id: p%d\n    provider: vllm\n    endpoint: http://v:1\n    secretRefs:\n", n)
		}
		fmt.Fprintf(&spec, "      x%d: {secretKeyRef: {name: r%d, key: k%d}}\n", n, n/keys, n%keys)
	}
	stack, err := newFlooding(namespace, fmt.Sprint("s", i), spec.String())
	if err != nil {
		return err
	}
	return c.Create(ctx, stack)
}
