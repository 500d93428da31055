package controller_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

const (
	// volumeSpec is the spec of a stack with its data on a volume. redisSpec is the same spec with some of the data in
	// Redis.
	volumeSpec = `{distribution: {name: starter}, workload: {storage: {size: 1Gi}, preflight: Never}}`
	redisSpec  = `{distribution: {name: starter}, workload: {storage: {size: 1Gi}, preflight: Never}, storage: {kv: {type: redis, endpoint: "redis://redis:6379"}}}`
)

// specOfRelease returns the spec of a stack with a volume and this release.
func specOfRelease(release string) string {
	return fmt.Sprintf(`{distribution: {name: starter, version: %q}, workload: {storage: {size: 1Gi}, preflight: Never}}`, release)
}

// acceptDataLoss sets the annotation with which a user accepts a loss of data.
func acceptDataLoss(t *testing.T, env *controllertest.Environment, value string) {
	t.Helper()
	env.PatchStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		stack.Annotations = map[string]string{names.AnnotationAcceptDataLoss: value}
	})
}

// listEventNotes returns the notes of the events with the given reason.
func listEventNotes(t *testing.T, env *controllertest.Environment, reason string) []string {
	t.Helper()
	var notes []string
	for _, event := range env.ListEvents(t) {
		if event.Reason == reason {
			notes = append(notes, event.Note)
			if event.Series != nil {
				notes = append(notes, fmt.Sprintf("repeated %d times", event.Series.Count))
			}
		}
	}
	return notes
}

// TestRunningDataLeftBehindIsReported checks that data that a change leaves behind is reported in an event and in the
// status, and that the change is applied. The operator creates one event, and an idle stack causes no calls. Reverting
// the change leaves behind the data that was stored after the change.
func TestRunningDataLeftBehindIsReported(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.StartOperator(t, env.Namespace)
	env.CreateReadyStack(t, volumeSpec)
	before := env.GetDeployment(t)
	env.UpdateSpec(t, "my", redisSpec)
	env.WaitForDeploymentUpdate(t, before)
	env.MarkDeploymentReady(t, "my")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	left := env.WaitForCondition(t, "my", v1alpha2.ConditionDataLeftBehind, v1alpha2.ReasonDataLeftBehind)
	const stays = "spec.storage.kv: the data of batches, prompts, registry, vector_io/faiss, vector_io/sqlite-vec stays in " +
		"the SQLite file /.llama/distributions/starter/kvstore.db on PersistentVolumeClaim my-pvc, and is missing from Redis at redis:6379"
	if left.Status != "True" || !strings.HasPrefix(left.Message, stays) {
		t.Errorf("condition %+v", left)
	}
	calls := env.WaitUntilIdle(t, env.Namespace)
	touchStack(t, env)
	if now := env.WaitUntilIdle(t, env.Namespace); len(now) != len(calls) {
		t.Errorf("an idle stack causes calls: %v", now[len(calls):])
	}
	if notes := listEventNotes(t, env, v1alpha2.EventDataLeftBehind); len(notes) != 1 ||
		!strings.HasPrefix(notes[0], stays) {
		t.Errorf("events %q, want one that names the data", notes)
	}

	env.UpdateSpec(t, "my", volumeSpec)
	controllertest.WaitUntil(t, func() error {
		left := env.WaitForCondition(t, "my", v1alpha2.ConditionDataLeftBehind, v1alpha2.ReasonDataLeftBehind)
		if !strings.Contains(left.Message, "stays in Redis at redis:6379") {
			return fmt.Errorf("condition %+v", left)
		}
		return nil
	})
	env.UpdateSpec(t, "my", strings.Replace(volumeSpec, "workload", "disabled: [eval], workload", 1))
	controllertest.WaitUntil(t, func() error {
		object := env.GetStack(t)
		if left := meta.FindStatusCondition(object.Status.Conditions, v1alpha2.ConditionDataLeftBehind); left != nil {
			return fmt.Errorf("condition %+v", left)
		}
		return nil
	})
}

// touchStack makes the operator reconcile the stack without a change to its spec.
func touchStack(t *testing.T, env *controllertest.Environment) {
	t.Helper()
	env.PatchStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		stack.Labels = map[string]string{"looked-at": fmt.Sprint(len(stack.Labels["looked-at"]))}
	})
}

// TestRunningDataLossIsAccepted checks that a change that would permanently lose data waits, with the pods unchanged,
// until the annotation names the data.
func TestRunningDataLossIsAccepted(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	env.StartOperator(t, env.Namespace)
	env.CreateReadyStack(t, specOfRelease("0.3"))
	before := env.GetDeployment(t)
	env.UpdateSpec(t, "my", specOfRelease("0.7"))
	refused := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDataLossNotAccepted)
	const message = "spec.distribution: release 0.7 cannot read the data that vector_io/faiss stored under release 0.3, so the server does not start, and no tool converts this data: " +
		"stay on 0.3, or delete the vector stores of that provider through the API (DELETE /v1/vector_stores/ID) and create them again after the change; " +
		"before the change, accept the loss of the remaining data with the annotation llamastack.io/accept-data-loss: \"vector_io/faiss\"\n" +
		"The running pods do not change"
	if refused.Message != message {
		t.Errorf("message\n%s\nwant\n%s", refused.Message, message)
	}
	env.WaitForCondition(t, "my", v1alpha2.ConditionStalled, v1alpha2.ReasonDataLossNotAccepted)
	env.WaitUntilIdle(t, env.Namespace)
	env.CheckDeploymentUnchanged(t, before)
	if notes := listEventNotes(t, env, v1alpha2.EventDataLossNotAccepted); len(notes) != 1 ||
		!strings.Contains(notes[0], "vector_io/faiss") {
		t.Errorf("events %q, want one that names the data", notes)
	}

	acceptDataLoss(t, env, "faiss")
	controllertest.WaitUntil(t, func() error {
		return env.CheckCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDataLossNotAccepted, message+
			`; the annotation llamastack.io/accept-data-loss contains "faiss", which does not name any of the lost data; set the annotation to "vector_io/faiss"`)
	})
	env.CheckDeploymentUnchanged(t, before)

	acceptDataLoss(t, env, "registry, vectorIo/faiss")
	env.WaitForDeploymentUpdate(t, before)
	env.MarkDeploymentReady(t, "my")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	env.WaitForCondition(t, "my", v1alpha2.ConditionDataLeftBehind, v1alpha2.ReasonDataLeftBehind)
	calls := env.WaitUntilIdle(t, env.Namespace)
	touchStack(t, env)
	if now := env.WaitUntilIdle(t, env.Namespace); len(now) != len(calls) {
		t.Errorf("the annotation of an earlier change causes calls: %v", now[len(calls):])
	}
}

// removePlaces removes the places from the record on the Deployment.
func removePlaces(t *testing.T, env *controllertest.Environment) {
	t.Helper()
	deployment := env.GetDeployment(t)
	rendered, _, found := strings.Cut(deployment.Annotations[names.AnnotationRendered], `,"places":`)
	if !found {
		t.Fatalf("the record has no places: %s", rendered)
	}
	patch := client.MergeFrom(deployment.DeepCopy())
	deployment.Annotations[names.AnnotationRendered] = rendered + "}"
	env.Patch(t, deployment, patch)
}

// TestDataTableIsKept checks that a stack keeps the database table with its data, even if the record does not contain
// the table because an older operator used the release's default name, or if the Deployment with the record no longer
// exists.
func TestDataTableIsKept(t *testing.T) {
	const spec = `{distribution: {name: starter, version: "0.8"}, storage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}}`
	older := controllertest.NewConfigMap("older", names.ConfigFile, `
storage:
  backends: {kv_default: {type: kv_postgres, host: pg, user: me}}
  stores: {metadata: {namespace: registry, backend: kv_default}}
providers: {}
`)
	older.Labels = names.ConfigLabels("my", names.ConfigKindGenerated)
	for name, forget := range map[string]func(*testing.T, *controllertest.Environment, *appsv1.Deployment){
		"data table without a record": func(t *testing.T, env *controllertest.Environment, deployment *appsv1.Deployment) {
			removePlaces(t, env)
			env.Get(t, "my", deployment)
			for i := range deployment.Spec.Template.Spec.Volumes {
				if volume := &deployment.Spec.Template.Spec.Volumes[i]; volume.Name == names.ConfigVolume {
					volume.ConfigMap.Name = "older"
				}
			}
			// The older operator rendered the Deployment from different inputs and a different template.
			deployment.Annotations[names.AnnotationRendered] = strings.NewReplacer(`"inputs":"`, `"inputs":"0`, `"template":"`,
				`"template":"0`).
				Replace(deployment.Annotations[names.AnnotationRendered])
			env.Update(t, deployment)
		},
		"deleted Deployment": func(t *testing.T, env *controllertest.Environment, deployment *appsv1.Deployment) {
			env.Delete(t, deployment)
			object := env.GetStack(t)
			patch := client.MergeFrom(object.DeepCopy())
			object.Status.ConfigGeneration = &v1alpha2.ConfigGeneration{ConfigMapName: "older"}
			env.PatchStatus(t, object, patch)
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := controllertest.NewEnvironment(t)
			env.Create(t, controllertest.NewSecret("pg", "url", "postgresql://me:secret@pg:5432/data"), older.DeepCopy())
			o := env.StartWithReadyStack(t, spec)
			env.WaitUntilIdle(t, env.Namespace)
			o.Stop(t)
			deployment := env.GetDeployment(t)
			forget(t, env, deployment)
			env.StartReconciler(t, env.Namespace+"-next")
			controllertest.WaitUntil(t, func() error {
				object := env.GetStack(t)
				config := &corev1.ConfigMap{}
				if err := env.Client.Get(t.Context(), env.Key(object.Status.GeneratedConfigMap()), config); err != nil {
					return err
				}
				if !strings.Contains(config.Data[names.ConfigFile], "table_name: ogx_kvstore") {
					return fmt.Errorf("%s has another table", config.Name)
				}
				return nil
			})
		})
	}
}
