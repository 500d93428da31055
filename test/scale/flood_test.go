package scale_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	registrylabels "github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// floodStacks is the number of stacks with which one tenant tries to delay others. floodTime is the time for which it
	// changes them.
	floodStacks = 300
	floodTime   = 30 * time.Second
	// stalledImages is the number of images whose layers the registry of this tenant never sends completely.
	stalledImages = 8
	// mostDelay is the longest time that a plain stack of another tenant may wait for its first status.
	mostDelay = 2 * time.Second
	// writesOfStack is the number of writes until a plain stack has a status: those of the stack, of its ConfigMap,
	// ServiceAccount, Service and Deployment, and of the status.
	writesOfStack = 6
)

// BenchmarkTenantsFlood measures how long the plain stacks of one namespace wait for their first status while another
// tenant tries to delay them. Run it with -benchtime=1x, as `make bench-tenants` does.
func BenchmarkTenantsFlood(b *testing.B) {
	for b.Loop() {
		c := startCluster(b, inLoud, inCalm)
		o := c.startOperator(b)
		fmt.Fprint(os.Stdout, "\n| while another tenant … | first status: median, slowest, number | the same watch and writes by a bare client: median, slowest | limit |\n|---|---|---|---|\n")
		for _, flood := range []struct {
			what string
			run  func(context.Context, *cluster) error
		}{
			{"does nothing", func(context.Context, *cluster) error { return nil }},
			{fmt.Sprintf("creates %d stacks with one host name", floodStacks), floodHosts},
			{"changes these stacks", toggleHosts},
			{"deletes these stacks at once", deleteFlood},
		} {
			waited, bare := c.firstStatus(b, func() error { return flood.run(b.Context(), c) })
			fmt.Fprintf(os.Stdout, "| %s | %.2f s, %.2f s, %d | %.2f s, %.2f s | %.0f s more |\n", flood.what, median(waited),
				slices.Max(waited), len(waited), median(bare), slices.Max(bare), mostDelay.Seconds())
			b.ReportMetric(slices.Max(waited), "s-"+strings.Fields(flood.what)[0])
		}
		alone, stalled := c.readImages(b)
		fmt.Fprintf(os.Stdout, "| does nothing: time to read an image | %.2f s | | |\n| has %d images whose layers stall: the same | %.2f s | | %.0f s |\n",
			alone, stalledImages, stalled, mostDelay.Seconds())
		b.ReportMetric(stalled, "s-stalls")
		b.ReportMetric(o.most(b), "MiB")
		o.stop(b)
	}
}

// firstStatus creates plain stacks one after the other while a function runs, at least three. It returns, for each of
// them, the time in seconds until it has a status, and the time that a bare client takes until its own watch has the
// stack and to write as many objects one after the other. The flood also delays that client: the API server shares the
// processors of this machine, and decodes the objects of all tenants one after the other for its watches.
func (c *cluster) firstStatus(b *testing.B, during func() error) (waited, bare []float64) {
	b.Helper()
	seen := c.watchCalm(b)
	ended := make(chan error, 1)
	go func() { ended <- during() }()
	for running := true; running || len(waited) < 3; {
		select {
		case err := <-ended:
			if running = false; err != nil {
				b.Fatal(err)
			}
		default:
		}
		stack := c.newStack(b, inCalm, fmt.Sprintf("calm-%d", time.Now().UnixNano()))
		started := time.Now()
		c.create(b, stack)
		eventually(b, poll/10, "the first status of a plain stack", func() (bool, error) {
			return len(stack.Status.Conditions) > 0, c.Get(b.Context(), client.ObjectKeyFromObject(stack), stack)
		})
		waited = append(waited, time.Since(started).Seconds())
		watched := seen(stack.Name).Sub(started)
		started = time.Now()
		for i := range writesOfStack {
			c.create(b, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Namespace: inCalm, Name: fmt.Sprintf("%s-%d", stack.Name, i),
			}})
		}
		bare = append(bare, (watched + time.Since(started)).Seconds())
	}
	return waited, bare
}

// watchCalm watches the stacks of the namespace with plain stacks. It returns a function that waits for a stack, and
// returns the time at which the watch reported it.
func (c *cluster) watchCalm(b *testing.B) func(name string) time.Time {
	b.Helper()
	watcher, err := client.NewWithWatch(c.Plane.Config, client.Options{Scheme: c.Scheme()})
	testutil.Must(b, err)
	events, err := watcher.Watch(b.Context(), &v1alpha2.LlamaStackDistributionList{}, client.InNamespace(inCalm))
	testutil.Must(b, err)
	type report struct {
		name string
		at   time.Time
	}
	reports := make(chan report, 1000)
	go func() {
		defer close(reports)
		for event := range events.ResultChan() {
			if stack, is := event.Object.(*v1alpha2.LlamaStackDistribution); is && event.Type == watch.Added {
				reports <- report{stack.Name, time.Now()}
			}
		}
	}()
	b.Cleanup(events.Stop)
	return func(name string) time.Time {
		for one := range reports {
			if one.name == name {
				return one.at
			}
		}
		b.Fatal("the watch of the bare client ended")
		return time.Time{}
	}
}

func floodName(i int) string { return fmt.Sprintf("flood-%d", i) }

// floodHosts creates stacks that request the same host name, with as many annotations as the API server accepts.
func floodHosts(ctx context.Context, c *cluster) error {
	annotations := map[string]string{}
	for i := range 256 {
		annotations[fmt.Sprintf("k%d", i)] = strings.Repeat("v", 900)
	}
	expose, err := json.Marshal(map[string]any{"hostname": "loud.example.com", "annotations": annotations})
	if err != nil {
		return err
	}
	return together(floodStacks, func(i int) error {
		stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: inLoud, Name: floodName(i)}}
		stack.Spec.Distribution.Name = "starter"
		stack.Spec.Networking = &v1alpha2.NetworkingSpec{Expose: &v1alpha2.Expose{Raw: expose}}
		return c.Create(ctx, stack)
	})
}

// toggleHosts changes the number of replicas of the stacks for some time.
func toggleHosts(ctx context.Context, c *cluster) error {
	ends := time.Now().Add(floodTime)
	return together(1<<20, func(i int) error {
		if time.Now().After(ends) {
			return nil
		}
		stack := &v1alpha2.LlamaStackDistribution{
			ObjectMeta: metav1.ObjectMeta{Namespace: inLoud, Name: floodName(i % floodStacks)},
		}
		change := fmt.Sprintf(`{"spec":{"workload":{"replicas":%d}}}`, 1+time.Now().UnixMilli()%5)
		return c.Patch(ctx, stack, client.RawPatch("application/merge-patch+json", []byte(change)))
	})
}

// deleteFlood deletes all stacks with one request, and waits until they are gone. It repeats the request if the API
// server does not delete all of them in time.
func deleteFlood(ctx context.Context, c *cluster) error {
	for {
		err := c.DeleteAllOf(ctx, &v1alpha2.LlamaStackDistribution{}, client.InNamespace(inLoud))
		if err == nil {
			break
		}
		if !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
			return err
		}
	}
	for {
		var left metav1.PartialObjectMetadataList
		left.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind("LlamaStackDistributionList"))
		if err := c.List(ctx, &left, client.InNamespace(inLoud)); err != nil || len(left.Items) == 0 {
			return err
		}
		<-time.After(poll)
	}
}

// readImages measures the time in seconds that the operator takes to read the image of a stack, first alone, and then
// while the registry of another tenant stalls the transfers of layers.
func (c *cluster) readImages(b *testing.B) (alone, stalled float64) {
	b.Helper()
	stop := make(chan struct{})
	b.Cleanup(func() { close(stop) })
	images := newStallingRegistry(b, stop)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: names.OperatorNamespace, Name: names.OperatorConfigMap,
	}}
	testutil.Must(b, c.Get(b.Context(), client.ObjectKeyFromObject(config), config))
	config.Data["registries"] = fmt.Sprintf("insecure: [%q, %q]\n", images.quick, images.stalls)
	testutil.Must(b, c.Update(b.Context(), config))
	alone = c.readImage(b, images.quick+"/calm/alone:1")
	for i := range stalledImages {
		image := fmt.Sprintf("%s/loud/server-%d:1", images.stalls, i)
		c.create(b, c.withImage(b, inLoud, fmt.Sprintf("stalled-%d", i), image))
	}
	for range 2 { // two transfers hold what they can
		<-images.reached
	}
	return alone, c.readImage(b, images.quick+"/calm/behind:1")
}

func (c *cluster) withImage(b *testing.B, namespace, name, image string) *v1alpha2.LlamaStackDistribution {
	b.Helper()
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	testutil.Must(b, yaml.UnmarshalStrict([]byte("distribution: {image: "+image+"}"), &stack.Spec))
	return stack
}

// readImage creates a stack with an image, and returns the time in seconds until the operator has generated its
// configuration.
func (c *cluster) readImage(b *testing.B, image string) float64 {
	b.Helper()
	stack := c.withImage(b, inCalm, fmt.Sprintf("image-%d", time.Now().UnixNano()), image)
	started := time.Now()
	c.create(b, stack)
	eventually(b, poll/10, "the configuration from an image", func() (bool, error) {
		return meta.IsStatusConditionTrue(stack.Status.Conditions, v1alpha2.ConditionConfigGenerated),
			c.Get(b.Context(), client.ObjectKeyFromObject(stack), stack)
	})
	return time.Since(started).Seconds()
}

// stallingRegistry contains the hosts of two registries with the same images. One of them stalls the transfer of layers
// after a mebibyte, and reports each of these transfers.
type stallingRegistry struct {
	quick, stalls string
	reached       chan struct{}
}

func newStallingRegistry(b *testing.B, stop <-chan struct{}) *stallingRegistry {
	b.Helper()
	images := &stallingRegistry{reached: make(chan struct{}, 1000)}
	content := registry.New(registry.Logger(log.New(&bytes.Buffer{}, "", 0)))
	quick := httptest.NewServer(content)
	b.Cleanup(quick.Close)
	layers := map[string][]byte{}
	stalls := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		layer, is := layers[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]
		if !is || r.Method != http.MethodGet {
			content.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(layer)))
		_, _ = w.Write(layer[:1<<20+4096])
		_ = http.NewResponseController(w).Flush()
		images.reached <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	}))
	b.Cleanup(stalls.Close)
	images.quick, images.stalls = strings.TrimPrefix(quick.URL, "http://"), strings.TrimPrefix(stalls.URL, "http://")
	for i := range stalledImages {
		digest, layer := images.push(b, fmt.Sprintf("loud/server-%d:1", i))
		layers[digest] = layer
	}
	images.push(b, "calm/alone:1")
	images.push(b, "calm/behind:1")
	return images
}

// push pushes an image whose configuration is at the end of a layer that is too large to be read into memory at once.
func (s *stallingRegistry) push(b *testing.B, to string) (digest string, content []byte) {
	b.Helper()
	var packed bytes.Buffer
	writer, err := zstd.NewWriter(&packed)
	testutil.Must(b, err)
	files := tar.NewWriter(writer)
	noise := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32s", to)))).Read(noise)
	config := "version: 2\nimage_name: own\napis: [inference]\nproviders:\n  inference:\n" +
		"  - provider_id: openai\n    provider_type: remote::openai\n    config: {}\n"
	for _, file := range []struct {
		name    string
		content []byte
	}{{"noise", noise}, {"config.yaml", []byte(config)}} {
		header := &tar.Header{Name: file.name, Mode: 0o644, Size: int64(len(file.content)), Typeflag: tar.TypeReg}
		testutil.Must(b, files.WriteHeader(header))
		if _, err := files.Write(file.content); err != nil {
			b.Fatal(err)
		}
	}
	testutil.Must(b, errors.Join(files.Close(), writer.Close()))
	layer := static.NewLayer(packed.Bytes(), types.OCILayerZStd)
	hash, err := layer.Digest()
	testutil.Must(b, err)
	image, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layer)
	testutil.Must(b, err)
	described, err := image.ConfigFile()
	testutil.Must(b, err)
	described = described.DeepCopy()
	described.OS, described.Architecture = "linux", "amd64"
	described.Config.Labels = map[string]string{
		registrylabels.LabelLayer: hash.String(), registrylabels.LabelPath: "config.yaml",
		registrylabels.LabelRelease: "0.7.3",
	}
	if image, err = mutate.ConfigFile(image, described); err != nil {
		b.Fatal(err)
	}
	ref, err := name.ParseReference(s.quick+"/"+to, name.Insecure)
	testutil.Must(b, err)
	testutil.Must(b, remote.Write(ref, image, remote.WithContext(b.Context())))
	return hash.String(), packed.Bytes()
}
