package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

const (
	firstImage  = "example.com/first:1"
	secondImage = "example.com/second:1"
)

var (
	externals = []status.ExternalProvider{
		{
			API: "inference", ID: "first", Image: firstImage, Path: "spec.externalProviders.inference[0]", Type: "remote::first",
			Module: "my_org.first",
		},
		{API: "safety", ID: "second", Image: secondImage},
	}
	started = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
)

func done() corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Ready: true,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}},
	}
}

func runs() corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(started)},
	}}
}

func waits() corev1.ContainerStatus { return waiting("PodInitializing", "") }

// installing returns a pod of the newest ReplicaSet with the given container statuses, in order: the containers that
// copy the providers, the container that installs the providers, and the server. A container without a status is one
// that the kubelet has not reported.
func installing(name string, containers ...corev1.ContainerStatus) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			OwnerReferences: []metav1.OwnerReference{{UID: "rs-2", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{
			{Name: "external-provider-first", Image: firstImage},
			{Name: "external-provider-second", Image: secondImage + "@sha256:2"},
			{Name: "external-providers", Image: "server"},
		}},
	}
	for i := range containers {
		if i == len(p.Spec.InitContainers) {
			containers[i].Name = "llama-stack"
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, containers[i])
			break
		}
		containers[i].Name = p.Spec.InitContainers[i].Name
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, containers[i])
	}
	return p
}

// after returns a changed copy of the pod.
func after(p corev1.Pod, change func(*corev1.Pod)) corev1.Pod {
	changed := p.DeepCopy()
	change(changed)
	return *changed
}

func ready(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type:   corev1.PodReady,
		Status: corev1.ConditionTrue,
	})
}

func ofEarlier(p *corev1.Pod) { p.OwnerReferences[0].UID = "rs-1" }

func copied(first, second string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.InitContainerStatuses[0].ImageID, p.Status.InitContainerStatuses[1].ImageID = first, second
	}
}

// shown returns the phase and the message of each provider.
func shown(judged []v1alpha2.ExternalProviderStatus) []string {
	var all []string
	for _, one := range judged {
		all = append(all, strings.TrimSuffix(string(one.Phase)+": "+one.Message, ": "))
	}
	return all
}

type externalCase struct {
	pods  []corev1.Pod
	in    func(*status.ExternalInput)
	want  []string
	until time.Duration // counted from the time `started`; zero means never
	// trouble is the message of the rollout's condition, if there is one.
	trouble string
}

func nowIs(after time.Duration) func(*status.ExternalInput) {
	return func(in *status.ExternalInput) { in.Now = started.Add(after) }
}

func listed(listed ...v1alpha2.ProviderInfo) func(*status.ExternalInput) {
	return func(in *status.ExternalInput) { in.Listed = listed }
}

var (
	pending        = []string{"Pending", "Pending"}
	installingBoth = []string{"Installing", "Installing"}
	both           = []string{"Ready", "Ready"}

	own    = v1alpha2.ProviderInfo{API: "inference", ProviderID: "first", ProviderType: "remote::first"}
	second = v1alpha2.ProviderInfo{API: "safety", ProviderID: "second", ProviderType: "inline::whatever"}
)

func phaseCases() map[string]externalCase {
	served := after(installing("a", done(), done(), done(), done()), ready)
	return map[string]externalCase{
		"nothing is deployed":       {in: func(in *status.ExternalInput) { in.Deployment = nil }, want: pending},
		"not scheduled":             {pods: []corev1.Pod{installing("a")}, want: pending},
		"the first image is pulled": {pods: []corev1.Pod{installing("a", waits(), waits(), waits(), waits())}, want: []string{"Installing", "Pending"}},
		"the first runs":            {pods: []corev1.Pod{installing("a", runs(), waits(), waits(), waits())}, want: []string{"Installing", "Pending"}, until: 10 * time.Minute},
		"the second runs": {
			pods: []corev1.Pod{installing("a", done(), runs(), waits(), waits())}, want: installingBoth,
			until: 10 * time.Minute,
		},
		"both are installed":  {pods: []corev1.Pod{installing("a", done(), done(), runs(), waits())}, want: installingBoth},
		"the server starts":   {pods: []corev1.Pod{installing("a", done(), done(), done(), runs())}, want: installingBoth},
		"ready":               {pods: []corev1.Pod{served}, want: both},
		"one of two is ready": {pods: []corev1.Pod{installing("0", runs(), waits(), waits(), waits()), served}, want: both},
		"a preflight pod": {
			pods: []corev1.Pod{after(served, ofEarlier)}, want: []string{"Installing", "Pending"}, until: 10 * time.Minute,
			in: func(in *status.ExternalInput) {
				in.Tried = []corev1.Pod{after(installing("t", runs(), waits()), func(p *corev1.Pod) { p.OwnerReferences = nil })}
			},
		},
		"pods of an earlier template": {pods: []corev1.Pod{after(served, ofEarlier)}, want: pending},
		"terminating pods": {
			pods: []corev1.Pod{after(served, func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(started)) })},
			want: pending,
		},
		"pods of another image": {
			pods: []corev1.Pod{after(served, func(p *corev1.Pod) { p.Spec.InitContainers[1].Image = secondImage + "0" })},
			want: []string{"Ready", "Pending"},
		},
		"the template is newer than the ReplicaSets": {
			pods: []corev1.Pod{served}, want: pending,
			in: func(in *status.ExternalInput) {
				in.Deployment.Spec.Template.Annotations = map[string]string{names.AnnotationInputs: "new"}
			},
		},
		"the node was shut down": {
			pods: []corev1.Pod{after(installing("a", done(), ended(137, "Error", ""), waits(), waits()), func(p *corev1.Pod) {
				p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Terminated", "Pod was terminated in response to imminent node shutdown."
			})}, want: pending,
		},
		"almost too long": {
			pods: []corev1.Pod{installing("a", runs(), waits(), waits(), waits())}, in: nowIs(10*time.Minute - time.Second),
			want: []string{"Installing", "Pending"}, until: 10 * time.Minute,
		},
		"the tag moved": {
			pods: []corev1.Pod{
				after(installing("b", done(), done(), done(), runs()), copied("example.com/first@sha256:b", "example.com/second@sha256:2")),
				after(served, copied("example.com/first@sha256:a", "example.com/second@sha256:2")),
			},
			want: []string{"Ready: the pods run different images under the same name, for example sha256:a and sha256:b; to select one of the images, add its digest to the image reference", "Ready"},
		},
		"nodes that name images by their configuration": {
			pods: []corev1.Pod{
				after(installing("b", done(), done(), done(), runs()), copied("sha256:b", "sha256:2")), after(served, copied("sha256:a", "sha256:3")),
			}, want: both,
		},
		"listed with another type": {
			pods: []corev1.Pod{served}, in: listed(v1alpha2.ProviderInfo{
				API: "inference", ProviderID: "first",
				ProviderType: "remote::other",
			}, second),
			want: []string{`Ready: the image's label specifies the type "remote::first", but the running server reports and uses the type "remote::other"; correct the label`, "Ready"},
		},
		"listed under another API": {
			pods: []corev1.Pod{served}, in: listed(own, v1alpha2.ProviderInfo{API: "shields", ProviderID: "second"}),
			want: []string{"Ready", `Ready: the spec lists the provider under the API "safety", but the running server lists the provider under "shields"; see the server's log`},
		},
		"listed under two APIs": {pods: []corev1.Pod{served}, in: listed(own, v1alpha2.ProviderInfo{API: "shields", ProviderID: "second"}, second), want: both},
		"not listed": {
			pods: []corev1.Pod{served}, in: listed(own), want: []string{"Ready", `Ready: the running server does not list the provider under the API "safety"; see the server's log`},
		},
		"not listed yet": {
			pods: []corev1.Pod{installing("a", done(), done(), done(), runs())}, in: listed(own),
			want: installingBoth,
		},
	}
}

func inFirst(message string) string {
	return `external provider "first" from image "example.com/first:1", container "external-provider-first": ` + message
}

// first returns a pod whose first container, which copies a provider, has the given status.
func first(container corev1.ContainerStatus) []corev1.Pod {
	return []corev1.Pod{installing("a", container, waits(), waits(), waits())}
}

func failsFirst(container corev1.ContainerStatus, message string) externalCase {
	return externalCase{
		pods: first(container), want: []string{"Failed: " + message, "Pending"},
		trouble: inFirst(message),
	}
}

func installs(message string) []corev1.Pod {
	return []corev1.Pod{installing("a", done(), done(), ended(1, "Error", message), waits())}
}

func serverEnds(message string) []corev1.Pod {
	return []corev1.Pod{installing("a", done(), done(), done(), ended(1, "Error", message))}
}

const (
	missing  = "Missing /lls-provider/lls-provider-spec.yaml in image example.com/first:1"
	refused  = `Failed to pull provider image "example.com/first:1": the registry requires credentials, or rejects the credentials; add a valid pull Secret to spec.workload.overrides.imagePullSecrets; see kubectl describe pod a`
	conflict = "needs numpy>=3, the server has 2.1: add its wheel to the image"
	inModule = `the server crashes with ImportError in the provider's module "my_org.first"; see kubectl logs a -c llama-stack --previous`
)

var atModule = externalCase{
	want:    []string{"Failed: " + inModule, "Installing"},
	trouble: `external provider "first" from image "example.com/first:1", container "llama-stack": ` + inModule,
}

func named(message string) externalCase {
	tc := atModule
	tc.pods = serverEnds(message)
	return tc
}

func failureCases() map[string]externalCase {
	return map[string]externalCase{
		"no metadata file":                  failsFirst(ended(1, "Error", missing+"\n"), missing),
		"the copy has just failed":          failsFirst(corev1.ContainerStatus{State: ended(1, "Error", missing).LastTerminationState}, missing),
		"credentials":                       failsFirst(waiting("ImagePullBackOff", `pull access denied: unauthorized: u:s3cret`), refused),
		"an unknown answer of the registry": failsFirst(waiting("ErrImagePull", "no"), `Failed to pull provider image "example.com/first:1": check the name of the image; if the registry requires credentials, add a pull Secret to spec.workload.overrides.imagePullSecrets; see kubectl describe pod a`),
		"never pulled":                      failsFirst(waiting("ErrImageNeverPull", ""), `Failed to pull provider image "example.com/first:1": the image is not on the node, and spec.externalProviders.inference[0].imagePullPolicy is Never; load the image onto the node, or remove the field; see kubectl describe pod a`),
		"no shell":                          failsFirst(ended(128, "StartError", `exec: "/bin/sh": no such file`), `the package cannot be copied from image "example.com/first:1", which must contain /bin/sh, cp and du: exec: "/bin/sh": no such file`),
		"no container":                      failsFirst(waiting("CreateContainerConfigError", "runAsNonRoot"), `container "external-provider-first" cannot be started (CreateContainerConfigError): runAsNonRoot`),
		"memory":                            failsFirst(ended(137, "OOMKilled", ""), `the programs in image "example.com/first:1" ran out of memory while copying the package; make the package smaller`),
		"no readable output":                failsFirst(ended(3, "Error", "\x00\n"), `the package cannot be copied from image "example.com/first:1": exit code 3; see kubectl logs a -c external-provider-first`),
		"control characters in the output":  failsFirst(ended(1, "Error", "\x1b[31mred\x07\xff\n  text"), "[31mred text"),
		"too long": {
			pods: first(runs()), in: func(in *status.ExternalInput) { in.Now = started.Add(10 * time.Minute) },
			want:    []string{`Failed: the programs in image "example.com/first:1" have been copying the package for more than 10 minutes; see kubectl logs a -c external-provider-first`, "Pending"},
			trouble: inFirst(`the programs in image "example.com/first:1" have been copying the package for more than 10 minutes; see kubectl logs a -c external-provider-first`),
		},
		"a retry succeeds": {
			pods: first(corev1.ContainerStatus{
				Ready: true, State: done().State,
				LastTerminationState: ended(1, "Error", missing).LastTerminationState,
			}),
			want: []string{"Installing", "Installing"},
		},
		"one of two pods fails": {
			pods: []corev1.Pod{installing("0", runs(), waits(), waits(), waits()), first(ended(1, "Error", missing))[0]},
			want: []string{"Failed: " + missing, "Pending"}, trouble: inFirst(missing),
		},
		"one provider causes the failure": {
			pods: installs(`{"provider":"second","image":"example.com/second:1","message":"` + conflict + `"}`), want: []string{"Installing", "Failed: " + conflict},
			trouble: `external provider "second" from image "example.com/second:1", container "external-providers": ` + conflict,
		},
		"no provider causes the failure": {
			pods: installs(`{"message":"no room on the volume"}`), want: []string{"Failed: no room on the volume", "Failed: no room on the volume"}, trouble: "no room on the volume",
		},
		"an unknown provider causes the failure": {
			pods: installs(`{"provider":"third","message":"who is it"}`), want: []string{"Failed: who is it", "Failed: who is it"}, trouble: "who is it",
		},
		"the program is killed": {
			pods: installs("Traceback"),
			want: []string{
				`Failed: container "external-providers" crashed with exit code 1; see kubectl logs a -c external-providers --previous`,
				`Failed: container "external-providers" crashed with exit code 1; see kubectl logs a -c external-providers --previous`,
			},
			trouble: `container "external-providers" crashed with exit code 1; see kubectl logs a -c external-providers --previous`,
		},
		"the module fails":                             named("File \"/opt/llama-stack/external-providers/python-packages/my_org/first/__init__.py\", line 1\nImportError: secret s3cret"),
		"the module is one file":                       named("File \"/opt/llama-stack/external-providers/python-packages/my_org/first.py\", line 1\nImportError: s3cret"),
		"the module is quoted":                         named("ImportError: cannot import name 'x' from 'my_org.first' (s3cret)"),
		"the name of a submodule":                      named("ImportError: No module named 'my_org.first.part'"),
		"the name of the module after the word module": named("ImportError: could not load module my_org.first: s3cret"),
		"another module": {
			pods: serverEnds("ModuleNotFoundError: No module named 'my_org.firstly'"), want: []string{"Installing", "Installing"},
			trouble: `container "llama-stack" crashed with ModuleNotFoundError: the image lacks a package that a provider needs; disable the provider, or use an image that contains the package; see kubectl logs a -c llama-stack --previous`,
		},
		"the packages are too large together": {
			pods: []corev1.Pod{after(installing("a", done(), ended(137, "Error", ""), waits(), waits()), func(p *corev1.Pod) {
				p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted"
				p.Status.Message = `Usage of EmptyDir volume "external-providers" exceeds the limit "8Gi". `
			})},
			want: []string{
				`Failed: the packages of all external providers together are too large; use smaller packages. Pod "a" ended (Evicted): Usage of EmptyDir volume "external-providers" exceeds the limit "8Gi".`,
				`Failed: the packages of all external providers together are too large; use smaller packages. Pod "a" ended (Evicted): Usage of EmptyDir volume "external-providers" exceeds the limit "8Gi".`,
			},
			trouble: `the packages of all external providers together are too large; use smaller packages. Pod "a" ended (Evicted): Usage of EmptyDir volume "external-providers" exceeds the limit "8Gi".`,
		},
	}
}

// TestExternalProviders checks the phase and the message of each provider, and the message of the rollout's condition.
func TestExternalProviders(t *testing.T) {
	for kind, cases := range map[string]map[string]externalCase{"phases": phaseCases(), "failures": failureCases()} {
		for name, tc := range cases {
			t.Run(kind+"/"+name, func(t *testing.T) {
				in := status.ExternalInput{
					Providers: externals, Deployment: deployment(2, 2, 2, 0), Pods: tc.pods, Now: started,
					ReplicaSets: []appsv1.ReplicaSet{replicaSet("1", "1", 0), replicaSet("2", "2", 0)},
				}
				if tc.in != nil {
					tc.in(&in)
				}
				judged, until := status.ExternalProviders(in)
				if diff := cmp.Diff(tc.want, shown(judged)); diff != "" {
					t.Errorf("providers (-want +got):\n%s", diff)
				}
				want := time.Time{}
				if tc.until > 0 {
					want = started.Add(tc.until)
				}
				if !until.Equal(want) {
					t.Errorf("until %v, want %v", until, want)
				}
				if in.Deployment == nil {
					return
				}
				got := status.Workload(status.WorkloadInput{
					Deployment: in.Deployment, ReplicaSets: in.ReplicaSets, Pods: in.Pods, External: externals, Now: in.Now,
				}).Available
				if _, message, _ := strings.Cut(got.Message, "current config: "); kind == "failures" && message != tc.trouble {
					t.Errorf("condition %q\nwant      %q", message, tc.trouble)
				}
				if failed := got.Reason == v1alpha2.ReasonRolloutFailed; failed != (tc.trouble != "") {
					t.Errorf("reason %s", got.Reason)
				}
			})
		}
	}
}

// TestExternalProviderEntries checks that each entry has the provider's name from the spec, and the name of the
// container that copies it.
func TestExternalProviderEntries(t *testing.T) {
	judged, _ := status.ExternalProviders(status.ExternalInput{Providers: []status.ExternalProvider{
		{ID: "first", Image: firstImage}, {ID: "Sec_ond", Image: secondImage},
	}})
	want := []v1alpha2.ExternalProviderStatus{
		{ProviderID: "first", Image: firstImage, Phase: "Pending", InitContainerName: "external-provider-first"},
		{ProviderID: "Sec_ond", Image: secondImage, Phase: "Pending", InitContainerName: names.ExternalCopyContainer("Sec_ond")},
	}
	if diff := cmp.Diff(want, judged); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPreflightOfExternalProviders checks that a preflight pod results in the same messages about a provider as a pod
// of the Deployment, apart from the flag --previous in the command that shows the logs.
func TestPreflightOfExternalProviders(t *testing.T) {
	for name, tc := range failureCases() {
		if tc.trouble == "" || tc.in != nil || len(tc.pods) > 1 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			pod := tc.pods[0]
			pod.Spec.NodeName, pod.CreationTimestamp = "node", metav1.NewTime(started)
			for _, containers := range [][]corev1.ContainerStatus{
				pod.Status.InitContainerStatuses,
				pod.Status.ContainerStatuses,
			} {
				for i := range containers { // the container is not restarted
					if ended := containers[i].LastTerminationState.Terminated; ended != nil {
						containers[i].State, containers[i].LastTerminationState = corev1.ContainerState{Terminated: ended},
							corev1.ContainerState{}
					}
				}
			}
			got := status.JudgePreflight(&pod, externals, time.Hour, started)
			// The kubelet keeps the logs of a container that is not restarted.
			if want := strings.TrimSuffix(tc.trouble, " --previous"); strings.TrimSuffix(got.Message, " --previous") != want {
				t.Errorf("message %q\nwant    %q", got.Message, want)
			}
			if got.State != status.PreflightCrashed && got.State != status.PreflightHindered {
				t.Errorf("state %s", got.State)
			}
		})
	}
}

// TestManyExternalProviders checks that hundreds of providers have a result each.
func TestManyExternalProviders(t *testing.T) {
	var all []status.ExternalProvider
	pod := installing("a")
	pod.Spec.InitContainers = nil
	for i := range 320 {
		id := fmt.Sprint("provider-", i)
		all = append(all, status.ExternalProvider{ID: id, Image: id, Module: id})
		name := names.ExternalCopyContainer(id)
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: name, Image: id})
		state := done()
		state.Name = name
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, state)
	}
	crash := ended(1, "Error", strings.Repeat("ImportError: No module named 'x'\n", 120))
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{crash}
	judged, _ := status.ExternalProviders(status.ExternalInput{
		Providers: all,
		Tried:     []corev1.Pod{pod, pod, pod, pod, pod},
	})
	if len(judged) != len(all) || judged[319].Phase != v1alpha2.ExternalProviderInstalling {
		t.Errorf("%d results, the last one is %+v", len(judged), judged[len(judged)-1])
	}
}
