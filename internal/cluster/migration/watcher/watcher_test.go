package watcher_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration/watcher"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/upgrade"
)

// operator is a watcher that runs with the permissions of a ServiceAccount.
type operator struct {
	log   testutil.Log
	calls atomic.Int64
	ended chan error
}

func startOperator(t *testing.T, c *upgrade.Cluster, account string) *operator {
	t.Helper()
	o := &operator{ended: make(chan error, 1)}
	config := c.Plane.As(account)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			o.calls.Add(1)
			return next.RoundTrip(r)
		})
	})
	ctx, cancel := context.WithCancel(log.IntoContext(context.WithoutCancel(t.Context()), o.logger()))
	informers := definitionCache(t, config)
	direct, err := client.New(config, client.Options{Scheme: c.Scheme(), Mapper: c.RESTMapper()})
	testutil.Must(t, err)
	w := watcher.New(watcher.Options{
		Client: direct, Informers: informers, Definition: names.CustomResourceDefinition,
		Migration: migration.Options{Rate: 1000, Settle: time.Second}, // this test does not need to wait for the API server
	})
	go func() { _ = informers.Start(ctx) }() // This call returns when ctx ends.
	go func() { o.ended <- w.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-o.ended; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the log:\n%s", o.log.String())
		}
	})
	return o
}

func (o *operator) logger() logr.Logger { return zap.New(zap.WriteTo(&o.log)) }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func definitionCache(t *testing.T, config *rest.Config) cache.Cache {
	t.Helper()
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	found, err := cache.New(config, cache.Options{
		Scheme: scheme, DefaultFieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField,
			names.CustomResourceDefinition),
	})
	testutil.Must(t, err)
	return found
}

// atStart contains the metrics of a replica that has not run a migration.
var atStart, errAtStart = metrics.Registry.Gather()

// TestMetricsOfStandby checks that a replica that waits for the lease does not report an incomplete migration.
func TestMetricsOfStandby(t *testing.T) {
	testutil.Must(t, errAtStart)
	for _, family := range atStart {
		if strings.HasPrefix(family.GetName(), "llama_stack_operator_storage_migration_") {
			t.Errorf("%s has the values %v", family.GetName(), family.GetMetric())
		}
	}
}

func (o *operator) awaitStored(t *testing.T, c *upgrade.Cluster, version string, count int) {
	t.Helper()
	testutil.Within(t, time.Minute, func() error {
		objects := map[string]float64{"pending": 0, "migrated": float64(count), "failed": 0}
		if diff := cmp.Diff([]string{version}, c.Definition(t).Status.StoredVersions) +
			cmp.Diff(map[string]float64{"": 1}, testutil.Metric(t, "storage_migration_complete")) +
			cmp.Diff(objects, testutil.Metric(t, "storage_migration_objects")); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	if diff := cmp.Diff(map[string]int{version: count}, upgrade.Versions(c.Stored(t))); diff != "" {
		t.Errorf("stored in etcd (-want +got):\n%s", diff)
	}
}

// The operator migrates with only the permissions in its manifests. It also migrates back if a user changes the storage
// version back. After a change to the definition that needs no migration, it only reads the definition.
func TestWatcher(t *testing.T) {
	const count = 20
	c := upgrade.Start(t)
	testutil.Must(t, c.Plane.InstallRights())
	webhook := upgrade.StartWebhook(t)
	o := startOperator(t, c, names.OperatorServiceAccount)
	c.Install(t, upgrade.Older(t))
	c.MakeStacks(t, count)
	webhook.Down.Store(true)
	c.Install(t, upgrade.Today(t, webhook))
	const waits = "The operator cannot migrate stored objects now"
	testutil.Eventually(t, "the operator to report that it waits",
		func() (bool, error) { return strings.Contains(o.log.String(), waits), nil })
	if got := testutil.Metric(t, "storage_migration_complete")[""]; got != 0 {
		t.Errorf("complete is %v, want 0", got)
	}
	webhook.Down.Store(false)
	o.awaitStored(t, c, "v1alpha2", count)
	if got := strings.Count(o.log.String(), waits); got != 1 {
		t.Errorf("the log reports %d times that the watcher waits, want once", got)
	}

	if _, err := migration.New(c, names.CustomResourceDefinition, migration.Options{}).SetStorageVersion(t.Context(),
		"v1alpha1"); err != nil {
		t.Fatal(err)
	}
	o.awaitStored(t, c, "v1alpha1", count)
	const done = "All stored objects are in the storage version"
	testutil.Eventually(t, "the operator to report that it is done",
		func() (bool, error) { return strings.Count(o.log.String(), done) >= 2, nil })

	// The watcher's own earlier change to the definition can trigger one extra check.
	calls := o.calls.Load()
	for range 2 {
		patch := client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"at":"`+time.Now().String()+`"}}}`))
		testutil.Must(t, c.Patch(t.Context(), c.Definition(t), patch))
		before := calls
		testutil.Eventually(t, "the operator to read the definition", func() (bool, error) {
			calls = o.calls.Load()
			return calls > before, nil
		})
		if calls-before > 2 {
			t.Errorf("%d requests for a change without effect, want one, and one for an earlier change", calls-before)
		}
	}
	if got := strings.Count(o.log.String(), done); got != 2 {
		t.Errorf("the log reports %d times that the migration is complete, want twice", got)
	}
}

// If the operator has no permission to read the definition, it logs the missing permission and does not migrate.
func TestWithoutRights(t *testing.T) {
	c := upgrade.Start(t)
	o := startOperator(t, c, "nobody")
	err := <-o.ended
	o.ended <- err
	const refused = "is not allowed to read the CustomResourceDefinition"
	if got := o.log.String(); err != nil || strings.Count(got, refused) != 1 {
		t.Errorf("%v, log:\n%s", err, got)
	}
	if got := o.calls.Load(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

func TestLimitedToNamespaces(t *testing.T) {
	o := &operator{}
	w := watcher.New(watcher.Options{Definition: names.CustomResourceDefinition})
	if err := w.Start(log.IntoContext(t.Context(), o.logger())); err != nil {
		t.Error(err)
	}
	if got := o.log.String(); strings.Count(got, "limited to some namespaces") != 1 {
		t.Errorf("log:\n%s", got)
	}
	if !w.NeedLeaderElection() {
		t.Error("every replica migrates, want only the leader")
	}
}
