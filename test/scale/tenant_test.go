package scale_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/shape"
)

const (
	// inLoud is the namespace of the tenant with the largest stacks, inCalm that of the tenant with a plain one.
	inLoud, inCalm = "loud", "calm"
	// largeStacks are as many as the requirement names.
	largeStacks = 200
	// plainStacks are made one after the other while the large ones are worked on, and before.
	plainStacks = 10
)

// BenchmarkTenants measures what 200 of the largest stacks in one namespace cost another namespace, and the operator: run it
// with -benchtime=1x, as `make bench-tenants` does.
func BenchmarkTenants(b *testing.B) {
	for b.Loop() {
		c := startCluster(b)
		for _, name := range []string{inLoud, inCalm} {
			c.create(b, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
			c.create(b, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "creds"}, StringData: map[string]string{"token": "x"}})
		}
		o := c.startOperator(b)
		alone := c.addPlainStacks(b, "before")
		started := time.Now()
		shapes := c.addLargeStacks(b)
		among := c.addPlainStacks(b, "among")
		c.rests(b)
		o.observes(b, largeStacks+2*plainStacks)
		took := time.Since(started)
		most := o.most(b)
		o.stop(b)
		started = time.Now()
		o = c.startOperator(b)
		o.observes(b, largeStacks+2*plainStacks)
		restarted, mostRestarted := time.Since(started), o.most(b)
		delay := slices.Max(among) - slices.Min(alone)
		b.ReportMetric(delay.Seconds(), "s-delay")
		b.ReportMetric(max(most, mostRestarted), "MiB")
		b.Logf("\n%d stacks of %d shapes\n\n"+
			"| measure | figure | limit |\n|---|---|---|\n"+
			"| a new plain stack alone, until its Deployment is there: median, slowest | %.2f s, %.2f s | |\n"+
			"| the same in another namespace, among the large ones | %.2f s, %.2f s | 2 s more |\n"+
			"| all large stacks are worked on | %.0f s | |\n"+
			"| most resident memory | %.0f MiB | 400 MiB |\n"+
			"| the same of an operator that starts among them | %.0f MiB | 400 MiB |\n"+
			"| every stack observed after that start | %.0f s | |\n",
			largeStacks, shapes, middle(alone).Seconds(), slices.Max(alone).Seconds(), middle(among).Seconds(), slices.Max(among).Seconds(),
			took.Seconds(), most, mostRestarted, restarted.Seconds())
	}
}

func middle(of []time.Duration) time.Duration { return slices.Sorted(slices.Values(of))[len(of)/2] }

// addPlainStacks makes plain stacks one after the other, and returns how long each waits for its Deployment.
func (c *cluster) addPlainStacks(b *testing.B, prefix string) []time.Duration {
	b.Helper()
	waited := make([]time.Duration, plainStacks)
	for i := range waited {
		stack := c.newStack(b, inCalm, fmt.Sprintf("%s-%d", prefix, i))
		started := time.Now()
		c.create(b, stack)
		eventually(b, poll/10, "the Deployment of a plain stack", func() (bool, error) {
			err := c.Get(b.Context(), client.ObjectKeyFromObject(stack), &appsv1.Deployment{})
			return err == nil, client.IgnoreNotFound(err)
		})
		waited[i] = time.Since(started)
	}
	return waited
}

// addLargeStacks makes the largest stacks that the API server takes, of every shape in turn. It returns the number of shapes
// that there are stacks of.
func (c *cluster) addLargeStacks(b *testing.B) int {
	b.Helper()
	taken := map[string]int{}
	made := 0
	for i := 0; made < largeStacks; i++ {
		s := &shape.All[i%len(shape.All)]
		n, known := taken[s.Name]
		if !known {
			n = s.Most
		}
		for ; n > 0; n = n * 3 / 4 {
			err := c.addLarge(b, s, n, fmt.Sprintf("large-%03d", made))
			if err == nil {
				made++
				break
			}
			if !apierrors.IsInvalid(err) && !apierrors.IsRequestEntityTooLargeError(err) && !apierrors.IsBadRequest(err) && !tooLarge(err) {
				b.Fatalf("%s of %d: %v", s.Name, n, err)
			}
		}
		taken[s.Name] = n
	}
	return len(taken)
}

// tooLarge reports whether the API server has no room for an object.
func tooLarge(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	return is && strings.Contains(status.ErrStatus.Message, "too large")
}

// addLarge makes one stack of a shape, with the ConfigMaps that it names.
func (c *cluster) addLarge(b *testing.B, s *shape.Shape, n int, name string) error {
	b.Helper()
	shaped, err := s.Of(n)
	if err != nil {
		b.Fatal(err)
	}
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: inLoud, Name: name}, Spec: shaped.Object.Spec}
	if shaped.Base != nil {
		stack.Spec.BaseConfig.ConfigMapName = name + "-base"
		if err := c.addText(b, stack.Spec.BaseConfig.ConfigMapName, shaped.Base); err != nil {
			return err
		}
	}
	if shaped.Override != nil {
		stack.Spec.OverrideConfig.ConfigMapName = name + "-override"
		if err := c.addText(b, stack.Spec.OverrideConfig.ConfigMapName, shaped.Override); err != nil {
			return err
		}
	}
	return c.Create(b.Context(), stack)
}

// addText makes a ConfigMap with a configuration, or replaces it.
func (c *cluster) addText(b *testing.B, name string, text []byte) error {
	b.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: inLoud, Name: name}, Data: map[string]string{"config.yaml": string(text)}}
	err := c.Create(b.Context(), object)
	if apierrors.IsAlreadyExists(err) {
		return c.Update(b.Context(), object)
	}
	return err
}

// most is the operator's largest resident size in MiB.
func (o *operator) most(b *testing.B) float64 {
	b.Helper()
	for line := range bytes.Lines(o.file(b, "status")) {
		if fields := strings.Fields(string(line)); len(fields) > 1 && fields[0] == "VmHWM:" {
			kilobytes, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kilobytes / 1024
		}
	}
	b.Fatal("no largest resident size")
	return 0
}
