package controller_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// manyTimeout is the time limit for changes to hundreds of stacks.
	manyTimeout = 3 * time.Minute
	// concurrency is the number of requests that the test sends concurrently.
	concurrency = 8
)

// sharingSpec is the spec of the stacks that share a Secret. The Secret contains a credential, and a connection string
// from which the operator derives another Secret. The base is small, so that the configurations are small too.
const sharingSpec = `
distribution: {name: starter}
baseConfig: {configMapName: base}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: shared, key: token}}}
storage:
  sql: {type: postgres, connectionString: {secretKeyRef: {name: shared, key: postgres}}}
`

// smallBase is a base configuration without providers.
const smallBase = `
version: 2
image_name: small
apis: [inference]
providers: {}
storage:
  backends:
    kv_default: {type: kv_sqlite, db_path: /data/kvstore.db}
    sql_default: {type: sql_sqlite, db_path: /data/sql_store.db}
  stores:
    metadata: {namespace: registry, backend: kv_default}
    inference: {table_name: inference_store, backend: sql_default}
    conversations: {table_name: openai_conversations, backend: sql_default}
    prompts: {namespace: prompts, backend: kv_default}
`

// newSharedSecret returns the Secret of sharingSpec. Both of its values contain the password.
func newSharedSecret(env *controllertest.Environment, password string) client.Object {
	shared := controllertest.NewSecret("shared", "token", "sk-"+password)
	shared.StringData["postgres"] = "postgresql://llama:" + password + "@db:5432/llama"
	shared.Namespace = env.Namespace
	return shared
}

// createStacks creates many stacks with the same spec.
func createStacks(t *testing.T, env *controllertest.Environment, prefix, spec string, count int) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i := range count {
		stack := env.NewStack(t, fmt.Sprintf("%s-%03d", prefix, i), spec)
		group.Go(func() error { return env.Client.Create(t.Context(), stack) })
	}
	testutil.Must(t, group.Wait())
}

// waitForAllReady waits until every stack's Ready condition has this reason.
func waitForAllReady(t *testing.T, env *controllertest.Environment, reason string) {
	t.Helper()
	var waiting []string
	err := wait.PollUntilContextTimeout(t.Context(), 20*controllertest.PollInterval, manyTimeout, true,
		func(ctx context.Context) (bool, error) {
			var stacks v1alpha2.LlamaStackDistributionList
			if err := env.Client.List(ctx, &stacks, client.InNamespace(env.Namespace)); err != nil {
				return false, err
			}
			waiting = nil
			for i := range stacks.Items {
				found := meta.FindStatusCondition(stacks.Items[i].Status.Conditions, v1alpha2.ConditionReady)
				if found == nil || found.Reason != reason {
					waiting = append(waiting, stacks.Items[i].Name)
				}
			}
			return len(waiting) == 0, nil
		})
	if err != nil {
		t.Fatalf("%d stacks are not %s within %v, among them %s", len(waiting), reason, manyTimeout, waiting[0])
	}
}

// markAllReady marks every Deployment that changed as ready, as the cluster's controllers do.
func markAllReady(t *testing.T, env *controllertest.Environment) {
	t.Helper()
	var deployments appsv1.DeploymentList
	testutil.Must(t, env.Client.List(t.Context(), &deployments, client.InNamespace(env.Namespace)))
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i := range deployments.Items {
		deployment := &deployments.Items[i]
		if deployment.Status.ObservedGeneration == deployment.Generation {
			continue
		}
		patch := client.MergeFrom(deployment.DeepCopy())
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		}
		group.Go(func() error { return env.Client.Status().Patch(t.Context(), deployment, patch) })
	}
	testutil.Must(t, group.Wait())
}

// TestRunningCallsOfManyStacks checks the documented number of calls for one change that affects many stacks. The
// change is to a Secret that a hundred of the two hundred stacks use. It causes one write of each Deployment and of
// each derived Secret, the deletion of the previous derived Secrets, and at most two writes of each status. A restart
// of the operator with two hundred stacks causes no writes.
func TestRunningCallsOfManyStacks(t *testing.T) {
	const (
		version = "many"
		// With the race detector, the test takes six times as long. A smaller number of stacks reveals just as many
		// races.
		sharing = 100 / controllertest.Slowdown
		others  = 100 / controllertest.Slowdown
	)
	env := controllertest.NewEnvironment(t)
	env.Create(t, newSharedSecret(env, "first-one"), controllertest.NewConfigMap("base", "config.yaml", smallBase),
		controllertest.NewConfigMap("mine", "config.yaml", smallBase))
	operator := env.StartOperator(t, version)
	createStacks(t, env, "sharing", sharingSpec, sharing)
	createStacks(t, env, "other", `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`, others)
	waitForAllReady(t, env, v1alpha2.ReasonRolloutInProgress)
	markAllReady(t, env)
	waitForAllReady(t, env, v1alpha2.ReasonMinimumReplicasAvailable)
	seen := len(env.WaitUntilIdleWithin(t, version, manyTimeout))

	t.Run("change of a Secret", func(t *testing.T) {
		env.Update(t, newSharedSecret(env, "second-one"))
		waitForCalls(t, env, version, seen, "patch deployments", sharing)
		env.WaitUntilIdleWithin(t, version, manyTimeout)
		markAllReady(t, env)
		waitForAllReady(t, env, v1alpha2.ReasonMinimumReplicasAvailable)
		now := env.WaitUntilIdleWithin(t, version, manyTimeout)
		counts := controllertest.CountCalls(now[seen:])
		t.Logf("calls: %v", counts)
		wrote := controllertest.CountCalls(controllertest.ListWrites(now[seen:]))
		const statuses = "patch llamastackdistributions status"
		if wrote[statuses] < sharing {
			t.Errorf("%d writes of statuses, want at least one for each of %d stacks", wrote[statuses], sharing)
		}
		delete(wrote, statuses)
		// Changed derived values are stored in a separate Secret. The previous Secret, which no pod reads any longer,
		// is deleted.
		if diff := cmp.Diff(map[string]int{"patch secrets": sharing, "patch deployments": sharing, "delete secrets": sharing},
			wrote); diff != "" {
			t.Errorf("writes other than those of statuses (-want +got):\n%s", diff)
		}
		each := map[string]int{}
		for _, call := range controllertest.ListWrites(now[seen:]) {
			each[call]++
		}
		for _, call := range slices.Sorted(maps.Keys(each)) {
			if most := map[bool]int{true: 2, false: 1}[strings.Contains(call, " status ")]; each[call] > most {
				t.Errorf("call %[2]s was made %[1]d times, want at most %[3]d", each[call], call, most)
			}
		}
		seen = len(now)
	})
	t.Run("a restart", func(t *testing.T) {
		operator.Stop(t)
		env.StartOperator(t, version)
		// Each stack that shares the Secret reads it, and the Secret with its derived values. All stacks share the reads of
		// the ConfigMaps to which they refer, except those at the same time.
		waitForCalls(t, env, version, seen, "get secrets", 2*sharing)
		got := controllertest.CountCalls(env.WaitUntilIdleWithin(t, version, manyTimeout)[seen:])
		t.Logf("calls: %v", got)
		const workers, configMaps = 4, 2
		if got["get configmaps"] > workers*configMaps || got["get secrets"] != 2*sharing || len(got) != 2 {
			t.Errorf("calls: %v", got)
		}
	})
}

// waitForCalls waits until the operator has made `count` new calls with this verb and resource. The parameter `seen` is
// the number of earlier calls, which are not counted.
func waitForCalls(t *testing.T, env *controllertest.Environment, version string, seen int, sort string, count int) {
	t.Helper()
	got := 0
	err := wait.PollUntilContextTimeout(t.Context(), 10*controllertest.PollInterval, manyTimeout, true,
		func(context.Context) (bool, error) {
			got = controllertest.CountCalls(env.ListCalls(t, version)[seen:])[sort]
			return got >= count, nil
		})
	if err != nil {
		t.Fatalf("%d calls %s within %v, want %d", got, sort, manyTimeout, count)
	}
}
