package status

import (
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/modellist"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// Report is the status of a stack and its objects.
type Report struct {
	Row
	Phase v1alpha2.Phase `json:"phase,omitempty"`
	// Deleting describes the deletion of the stack. It is nil for a stack that is not being deleted.
	Deleting *Deletion `json:"deleting,omitempty"`
	Paused   bool      `json:"paused,omitempty"`
	// Deployment is nil if the stack has no Deployment, or if the caller cannot read the Deployment.
	Deployment *Deployment `json:"deployment,omitempty"`
	// Preflight contains the pods in which the operator tests a change.
	Preflight  []Pod       `json:"preflight,omitempty"`
	Conditions []Condition `json:"conditions"`
	// Warnings are the warnings in the status.
	Warnings   []string    `json:"warnings,omitempty"`
	Server     Server      `json:"server"`
	Storage    []Claim     `json:"storage,omitempty"`
	Exposure   []Exposure  `json:"exposure,omitempty"`
	Autoscaler *Autoscaler `json:"autoscaler,omitempty"`
	// Unseen contains a sentence for each kind of object that the caller cannot read.
	Unseen  []string `json:"unseen,omitempty"`
	Verdict Verdict  `json:"verdict"`

	now time.Time
}

// Deletion is a deletion in progress.
type Deletion struct {
	Since      metav1.Time `json:"since"`
	Finalizers []string    `json:"finalizers,omitempty"`
}

// Condition is a condition of the stack.
type Condition struct {
	metav1.Condition
	// Wrong reports whether the condition indicates a problem.
	Wrong bool `json:"wrong,omitempty"`
}

// Server contains the facts about the server from the status and the configuration.
type Server struct {
	// Release is the release line of the configuration.
	Release string `json:"release,omitempty"`
	// Reported is the release that the server reports.
	Reported string `json:"reported,omitempty"`
	Image    string `json:"image,omitempty"`
	// Providers are the providers in the status. ProvidersLeftOut is the number of providers that the status omits.
	Providers        []v1alpha2.ProviderInfo           `json:"providers,omitempty"`
	ProvidersLeftOut int32                             `json:"providersLeftOut,omitempty"`
	External         []v1alpha2.ExternalProviderStatus `json:"externalProviders,omitempty"`
	Models           []modellist.Model                 `json:"models,omitempty"`
	// MCPServers are the MCP servers that the server uses. Their health is not known.
	MCPServers []v1alpha2.MCPServerStatus `json:"mcpServers,omitempty"`
}

// Claim is a PersistentVolumeClaim.
type Claim struct {
	Name  string                            `json:"name"`
	Phase corev1.PersistentVolumeClaimPhase `json:"phase"`
	Size  string                            `json:"size,omitempty"`
	// GrowsTo is the requested size while the volume is smaller.
	GrowsTo string `json:"growsTo,omitempty"`
	Class   string `json:"storageClass,omitempty"`
}

// Exposure is an object that exposes the stack outside the cluster.
type Exposure struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Problem is the reason why a router or Gateway does not accept the object.
	Problem string `json:"problem,omitempty"`
}

// Autoscaler is a HorizontalPodAutoscaler.
type Autoscaler struct {
	Name    string `json:"name"`
	Min     int32  `json:"min"`
	Max     int32  `json:"max"`
	Current int32  `json:"current"`
	Desired int32  `json:"desired"`
	// Problem is the reason why the autoscaler does not scale.
	Problem string `json:"problem,omitempty"`
}

// NewReport returns the report of a stack.
func NewReport(facts *Facts) *Report {
	stack := facts.Stack
	report := &Report{
		Row: NewRow(stack, facts.Now), Phase: stack.Status.Phase, Paused: names.Paused(stack.Annotations),
		Conditions: conditionsOf(&stack.Status), Warnings: stack.Status.Warnings, Server: serverOf(facts),
		Unseen: facts.Unseen, now: facts.Now,
	}
	if at := stack.DeletionTimestamp; at != nil {
		report.Deleting = &Deletion{Since: *at, Finalizers: stack.Finalizers}
	}
	report.Deployment, report.Preflight = workloadOf(facts)
	for i := range facts.Claims {
		report.Storage = append(report.Storage, claimOf(&facts.Claims[i]))
	}
	for i := range facts.Exposures {
		object := &facts.Exposures[i]
		report.Exposure = append(report.Exposure,
			Exposure{Kind: object.GetKind(), Name: object.GetName(), Problem: status.NotAccepted(object)})
	}
	if facts.Autoscaler != nil {
		report.Autoscaler = autoscalerOf(facts.Autoscaler)
	}
	report.Verdict = decide(facts, report)
	report.Level = report.Verdict.Level
	return report
}

// wrongIfTrue are the conditions that indicate a problem if they are true. All other conditions indicate a problem if
// they are not true.
var wrongIfTrue = []string{
	v1alpha2.ConditionDegraded, v1alpha2.ConditionDataLeftBehind, v1alpha2.ConditionStalled, v1alpha2.ConditionReconciling,
}

func conditionsOf(now *v1alpha2.LlamaStackDistributionStatus) []Condition {
	conditions := make([]Condition, 0, len(now.Conditions))
	for _, condition := range now.Conditions {
		asExpected := metav1.ConditionTrue
		if slices.Contains(wrongIfTrue, condition.Type) {
			asExpected = metav1.ConditionFalse
		}
		conditions = append(conditions, Condition{Condition: condition, Wrong: condition.Status != asExpected})
	}
	return conditions
}

func serverOf(facts *Facts) Server {
	now := &facts.Stack.Status
	server := Server{External: now.ExternalProviders, Models: facts.Models, MCPServers: now.MCPServers}
	if now.ResolvedDistribution != nil {
		server.Release, server.Image = now.ResolvedDistribution.ServerRelease, now.ResolvedDistribution.Image
	}
	if now.Version != nil {
		server.Reported = now.Version.LlamaStackServerVersion
	}
	if now.DistributionConfig != nil {
		server.Providers = now.DistributionConfig.Providers
		server.ProvidersLeftOut = now.DistributionConfig.ProvidersLeftOut
	}
	return server
}

func claimOf(claim *corev1.PersistentVolumeClaim) Claim {
	size, asked, growsTo := claim.Status.Capacity.Storage(), claim.Spec.Resources.Requests.Storage(), ""
	if size.IsZero() {
		size = asked
	}
	if size.Cmp(*asked) < 0 {
		growsTo = asked.String()
	}
	return Claim{
		Name:  claim.Name,
		Phase: claim.Status.Phase,
		Size:  size.String(), GrowsTo: growsTo,
		Class: ptr.Deref(claim.Spec.StorageClassName, ""),
	}
}

func autoscalerOf(object *autoscalingv2.HorizontalPodAutoscaler) *Autoscaler {
	problem, _ := status.AutoscalerTrouble(object)
	return &Autoscaler{
		Name: object.Name, Min: ptr.Deref(object.Spec.MinReplicas, 1), Max: object.Spec.MaxReplicas,
		Current: object.Status.CurrentReplicas, Desired: object.Status.DesiredReplicas, Problem: problem,
	}
}

// unhealthy returns the providers that report an error, in the form "inference/vllm".
func (s *Server) unhealthy() []string {
	var found []string
	for _, provider := range s.Providers {
		if provider.Health.Status == v1alpha2.ProviderHealthError {
			found = append(found, fmt.Sprintf("%s/%s", provider.API, provider.ProviderID))
		}
	}
	return found
}
