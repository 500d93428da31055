package scale_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/shape"
)

const (
	// inLoud is the namespace of the tenant with the largest stacks. inCalm is the namespace of the tenant with plain
	// stacks.
	inLoud, inCalm = "loud", "calm"
	// largeStacks is the number of large stacks that the requirement specifies.
	largeStacks = 200
	// plainStacks is the number of plain stacks that are created one after the other before the large stacks exist, and
	// a second time while the large stacks are reconciled again.
	plainStacks = 10
)

// BenchmarkTenants measures how 200 of the largest stacks in one namespace affect another namespace and the operator.
// Run it with -benchtime=1x, as `make bench-tenants` does.
func BenchmarkTenants(b *testing.B) {
	for b.Loop() {
		m := measureTenants(b)
		b.ReportMetric(slices.Max(m.among)-slices.Min(m.alone), "s-delay-made")
		b.ReportMetric(slices.Max(m.behind)-slices.Min(m.alone), "s-delay-all")
		b.ReportMetric(max(m.most, m.restarted), "MiB")
		fmt.Fprintln(os.Stdout, m.table())
	}
}

// tenants contains the results of one run.
type tenants struct {
	// shapes is the number of shapes for which there are stacks.
	shapes int
	// alone, among and behind are the times in seconds that a plain stack waits for its Deployment: before the large
	// stacks are created, while they are created, and while all of them are reconciled again.
	alone, among, behind []float64
	// looked is the time that the operator takes to reconcile all large stacks again.
	looked time.Duration
	// most is the maximum resident memory in MiB, rested is the resident memory when idle, and restarted is the maximum
	// resident memory of an operator that starts with these stacks.
	most, rested, restarted float64
	// observed is the time that the restarted operator takes to reconcile every stack.
	observed time.Duration
}

func measureTenants(b *testing.B) (m tenants) {
	b.Helper()
	c := startCluster(b, inLoud, inCalm)
	o := c.startOperator(b)
	m.alone = c.addPlainStacks(b, "before", once(plainStacks))
	made := make(chan error, 1)
	go func() {
		var err error
		m.shapes, err = c.addLargeStacks(b.Context())
		made <- err
	}()
	m.among = c.addPlainStacks(b, "among", func(int) bool {
		select {
		case err := <-made:
			testutil.Must(b, err)
			return false
		case <-time.After(time.Second):
			return true
		}
	})
	c.rests(b)

	started := time.Now()
	c.touchOperatorConfig(b)
	m.behind = c.addPlainStacks(b, "behind", once(plainStacks))
	c.rests(b)
	m.looked = time.Since(started)
	m.most = o.most(b)
	stacks := largeStacks + len(m.alone) + len(m.among) + len(m.behind)
	o.observes(b, stacks)
	o.returnsMemory(b)
	m.rested = o.resident(b)
	o.stop(b)

	started = time.Now()
	o = c.startOperator(b)
	o.observes(b, stacks)
	m.observed, m.restarted = time.Since(started), o.most(b)
	o.stop(b)
	return m
}

func once(n int) func(int) bool { return func(i int) bool { return i < n } }

// table returns a table of the figures and their limits.
func (m *tenants) table() string {
	var text strings.Builder
	row := func(what, figure, limit string) { fmt.Fprintf(&text, "| %s | %s | %s |\n", what, figure, limit) }
	waits := func(what string, waited []float64, limit string) {
		row(what, fmt.Sprintf("%.2f s, %.2f s of %d", median(waited), slices.Max(waited), len(waited)), limit)
	}
	fmt.Fprintf(&text, "\n%d stacks of %d shapes in one namespace\n\n| measure | figure | limit |\n|---|---|---|\n", largeStacks, m.shapes)
	waits("time until a new plain stack of another namespace has its Deployment, before the large stacks exist: median, slowest", m.alone, "")
	waits("the same, while the large stacks are created", m.among, "2 s more")
	waits("the same, while all large stacks are reconciled again", m.behind, "2 s more")
	row("time until all large stacks are reconciled again", fmt.Sprintf("%.0f s", m.looked.Seconds()), "")
	row("maximum resident memory, and resident memory when idle", fmt.Sprintf("%.0f MiB, %.0f MiB", m.most, m.rested), "400 MiB")
	row("maximum resident memory of an operator that starts with these stacks", fmt.Sprintf("%.0f MiB", m.restarted), "400 MiB")
	row("time after that start until every stack is observed", fmt.Sprintf("%.0f s", m.observed.Seconds()), "")
	return text.String()
}

// touchOperatorConfig changes a key that affects every stack: the domain of host names.
func (c *cluster) touchOperatorConfig(b *testing.B) {
	b.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: names.OperatorNamespace,
		Name:      names.OperatorConfigMap,
	}}
	testutil.Must(b, c.Get(b.Context(), client.ObjectKeyFromObject(object), object))
	if object.Data == nil {
		object.Data = map[string]string{}
	}
	object.Data["ingress"] = "domain: apps.example.com\n"
	testutil.Must(b, c.Update(b.Context(), object))
}

// addPlainStacks creates plain stacks one after the other, and returns, for each of them, the time in seconds until it
// has a Deployment.
func (c *cluster) addPlainStacks(b *testing.B, prefix string, another func(made int) bool) []float64 {
	b.Helper()
	var waited []float64
	for another(len(waited)) {
		stack := c.newStack(b, inCalm, fmt.Sprintf("%s-%d", prefix, len(waited)))
		started := time.Now()
		c.create(b, stack)
		eventually(b, poll/10, "the Deployment of a plain stack", func() (bool, error) {
			err := c.Get(b.Context(), client.ObjectKeyFromObject(stack), &appsv1.Deployment{})
			return err == nil, client.IgnoreNotFound(err)
		})
		waited = append(waited, time.Since(started).Seconds())
	}
	return waited
}

// addLargeStacks creates large stacks, and cycles through the shapes. If the API server rejects a stack as invalid or
// too large, the function reduces the size by a quarter and tries again. It returns the number of shapes that it tried.
func (c *cluster) addLargeStacks(ctx context.Context) (int, error) {
	taken := map[string]int{}
	made := 0
	for i := 0; made < largeStacks; i++ {
		s := &shape.All[i%len(shape.All)]
		n, known := taken[s.Name]
		if !known {
			n = s.Most
		}
		for ; n > 0; n = n * 3 / 4 {
			err := c.addLarge(ctx, s, n, fmt.Sprintf("large-%03d", made))
			if err == nil {
				made++
				break
			}
			if !apierrors.IsInvalid(err) && !apierrors.IsRequestEntityTooLargeError(err) && !apierrors.IsBadRequest(err) &&
				!tooLarge(err) {
				return 0, fmt.Errorf("%s of %d: %w", s.Name, n, err)
			}
		}
		taken[s.Name] = n
		if i >= len(shape.All) && made == 0 {
			return 0, errors.New("the API server rejected the stacks of every shape in every size")
		}
	}
	return len(taken), nil
}

// tooLarge reports whether the API server rejected an object because of its size.
func tooLarge(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	return is && strings.Contains(status.ErrStatus.Message, "too large")
}

// addLarge creates one stack of a shape, and the ConfigMaps to which it refers.
func (c *cluster) addLarge(ctx context.Context, s *shape.Shape, n int, name string) error {
	shaped, err := s.Of(n)
	if err != nil {
		return err
	}
	stack := &v1alpha2.LlamaStackDistribution{
		ObjectMeta: metav1.ObjectMeta{Namespace: inLoud, Name: name},
		Spec:       shaped.Object.Spec,
	}
	if shaped.Base != nil {
		stack.Spec.BaseConfig.ConfigMapName = name + "-base"
		if err := c.addText(ctx, stack.Spec.BaseConfig.ConfigMapName, shaped.Base); err != nil {
			return err
		}
	}
	if shaped.Override != nil {
		stack.Spec.OverrideConfig.ConfigMapName = name + "-override"
		if err := c.addText(ctx, stack.Spec.OverrideConfig.ConfigMapName, shaped.Override); err != nil {
			return err
		}
	}
	return c.Create(ctx, stack)
}

// addText creates or replaces a ConfigMap with a configuration.
func (c *cluster) addText(ctx context.Context, name string, text []byte) error {
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: inLoud, Name: name},
		Data:       map[string]string{"config.yaml": string(text)},
	}
	err := c.Create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		return c.Update(ctx, object)
	}
	return err
}
