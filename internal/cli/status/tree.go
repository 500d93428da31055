package status

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// maxShown is the number of models or MCP servers that a tree shows if it omits the others.
const maxShown = 10

// marks precede nodes of a tree, and show their level.
var marks = map[Level]string{Wrong: "✗ ", Waiting: "… ", Warning: "! ", OK: "✓ "}

// Text returns the report as text: the tree, the objects that cannot be read, and the verdict. If `verbose` is true,
// the tree contains the image, and every condition, provider, model and MCP server.
func (r *Report) Text(width int, verbose bool) string {
	root := r.tree(verbose)
	var text strings.Builder
	text.WriteString(root.String(width))
	for _, unseen := range r.Unseen {
		text.WriteString(layout.Paragraph("Not shown: "+unseen+".", width))
	}
	text.WriteString("\n" + layout.Paragraph(marks[r.Verdict.Level]+r.Verdict.Sentence, width))
	if r.Verdict.Next != "" {
		text.WriteString("Next: " + r.Verdict.Next + "\n")
	}
	return text.String()
}

func (r *Report) tree(verbose bool) layout.Node {
	root := layout.Node{Text: fmt.Sprintf("%sLlamaStackDistribution %s/%s: %s, %s old",
		marks[r.Level], r.Namespace, r.Name, r.Status, layout.Age(r.Created.Time, r.now))}
	if r.Deployment != nil {
		root.Children = append(root.Children, r.deployment())
	}
	for i := range r.Preflight {
		root.Add("Preflight: the operator is testing the change in a separate pod", r.pod(&r.Preflight[i]))
	}
	if conditions := r.conditions(verbose); len(conditions) > 0 {
		root.Add("Conditions", conditions...)
	}
	if len(r.Warnings) > 0 {
		nodes := make([]layout.Node, len(r.Warnings))
		for i, warning := range r.Warnings {
			nodes[i].Text = warning
		}
		root.Add(marks[Warning]+status.Count(len(nodes), "warning"), shortened(nodes, verbose)...)
	}
	if server := r.Server.nodes(verbose); len(server) > 0 {
		root.Add("Server", server...)
	}
	for _, claim := range r.Storage {
		root.Add(claim.text())
	}
	for _, exposure := range r.Exposure {
		root.Add(exposure.text(r.URL))
	}
	if r.Autoscaler != nil {
		root.Add(r.Autoscaler.text())
	}
	return root
}

func (r *Report) deployment() layout.Node {
	node := layout.Node{
		Text: fmt.Sprintf("%sDeployment %s: %d of %s", mark(r.Deployment.Available >= r.Deployment.Wanted),
			r.Deployment.Name, r.Deployment.Available, serve(r.Deployment.Wanted)),
	}
	for i := range r.Deployment.ReplicaSets {
		set := &r.Deployment.ReplicaSets[i]
		which := "earlier"
		if set.Current {
			which = "current"
		}
		child := layout.Node{
			Text: fmt.Sprintf("%sReplicaSet %s (revision %d, %s): %d of %s", mark(set.Available >= set.Wanted),
				set.Name, set.Revision, which, set.Available, serve(set.Wanted)),
		}
		for p := range set.Pods {
			child.Children = append(child.Children, r.pod(&set.Pods[p]))
		}
		node.Children = append(node.Children, child)
	}
	return node
}

func mark(good bool) string {
	if good {
		return marks[OK]
	}
	return marks[Wrong]
}

func (r *Report) pod(pod *Pod) layout.Node {
	readiness := "not ready"
	if pod.Ready {
		readiness = "ready"
	}
	text := fmt.Sprintf("%sPod %s: %s, %s, %s, %s old", marks[pod.level()], pod.Name, pod.State, readiness,
		status.Count(int(pod.Restarts), "restart"), layout.Age(pod.Created.Time, r.now))
	if pod.Container != "" {
		text += ", container " + pod.Container
	}
	return layout.Node{Text: text}
}

// level returns the level of a pod. The level is Waiting for a pod that can still become ready: the pod has no problem,
// or it is running and none of its containers has restarted.
func (p *Pod) level() Level {
	switch {
	case p.Ready:
		return OK
	case p.Trouble == "" || p.Trouble == status.NotReady && p.Restarts == 0:
		return Waiting
	default:
		return Wrong
	}
}

func (r *Report) conditions(verbose bool) []layout.Node {
	var nodes []layout.Node
	for i := range r.Conditions {
		condition := &r.Conditions[i]
		// Ready, Stalled and Reconciling repeat another condition.
		repeats := condition.Type == v1alpha2.ConditionReady || condition.Type == v1alpha2.ConditionStalled ||
			condition.Type == v1alpha2.ConditionReconciling
		waits := condition.Status == metav1.ConditionUnknown && condition.Reason == v1alpha2.ReasonWaiting
		if !verbose && (!condition.Wrong || repeats || waits) {
			continue
		}
		text := fmt.Sprintf("%s%s has been %s (%s) for %s", marks[condition.level()], condition.Type, condition.Status,
			condition.Reason, layout.Age(condition.LastTransitionTime.Time, r.now))
		if condition.Message != "" {
			text += ": " + condition.Message
		}
		nodes = append(nodes, layout.Node{Text: text})
	}
	return nodes
}

// level returns the level of a condition.
func (c *Condition) level() Level {
	switch {
	case !c.Wrong:
		return OK
	case c.Type == v1alpha2.ConditionDegraded,
		c.Type == v1alpha2.ConditionDataLeftBehind,
		c.Type == v1alpha2.ConditionAdopted,
		c.Reason == v1alpha2.ReasonDeploymentPaused:
		return Warning
	case c.Status == metav1.ConditionUnknown, status.InProgress(nil, c.Reason):
		return Waiting
	default:
		return Wrong
	}
}

func (s *Server) nodes(verbose bool) []layout.Node {
	var root layout.Node
	if release := s.releaseText(); release != "" {
		root.Add(release)
	}
	if s.Image != "" && verbose {
		root.Add("image " + s.Image)
	}
	if len(s.Providers) > 0 {
		root.Add(s.providersText(), s.providers(verbose)...)
	}
	for i := range s.External {
		root.Add(externalText(&s.External[i]))
	}
	if len(s.Models) > 0 {
		root.Add(status.Count(len(s.Models), "model")+" in the configuration", s.models(verbose)...)
	}
	if len(s.MCPServers) > 0 {
		var nodes []layout.Node
		for _, server := range s.MCPServers {
			nodes = append(nodes, layout.Node{Text: server.ID})
		}
		root.Add(status.Count(len(s.MCPServers), "MCP server"), shortened(nodes, verbose)...)
	}
	return root.Children
}

func externalText(provider *v1alpha2.ExternalProviderStatus) string {
	text := fmt.Sprintf("%sexternal provider %s: %s", mark(provider.Phase != v1alpha2.ExternalProviderFailed),
		provider.ProviderID, provider.Phase)
	if provider.Message != "" {
		text += ": " + provider.Message
	}
	return text
}

func (s *Server) releaseText() string {
	switch {
	case s.Reported != "" && s.Release != "":
		return fmt.Sprintf("release %s, configured as %s", s.Reported, s.Release)
	case s.Reported != "" || s.Release != "":
		return "release " + cmp.Or(s.Reported, s.Release)
	default:
		return ""
	}
}

func (s *Server) providersText() string {
	sums := map[string]int{}
	for i := range s.Providers {
		sums[s.Providers[i].Health.Status]++
	}
	parts := []string{status.Count(len(s.Providers)+int(s.ProvidersLeftOut), "provider")}
	for _, health := range []struct{ status, words string }{
		{v1alpha2.ProviderHealthOK, "healthy"},
		{v1alpha2.ProviderHealthError, "with an error"},
		{v1alpha2.ProviderHealthUnknown, "with unknown health"},
	} {
		if number := sums[health.status]; number > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", number, health.words))
		}
	}
	text := strings.Join(parts, ", ")
	if number := sums[v1alpha2.ProviderHealthNotImplemented] + sums[""]; number == len(s.Providers) {
		text += "; the server does not check provider health"
	}
	return text
}

func (s *Server) providers(verbose bool) []layout.Node {
	var nodes []layout.Node
	for i := range s.Providers {
		provider := &s.Providers[i]
		sick := provider.Health.Status == v1alpha2.ProviderHealthError
		if !sick && !verbose {
			continue
		}
		text := fmt.Sprintf("%s%s/%s (%s)", mark(!sick), provider.API, provider.ProviderID, provider.ProviderType)
		if health := provider.Health; health.Status != "" && health.Status != v1alpha2.ProviderHealthNotImplemented {
			text += ": " + strings.TrimSuffix(health.Status+": "+health.Message, ": ")
		}
		nodes = append(nodes, layout.Node{Text: text})
	}
	if verbose && s.ProvidersLeftOut > 0 {
		text := "and " + status.Count(int(s.ProvidersLeftOut), "provider") + " that the status does not list"
		nodes = append(nodes, layout.Node{Text: text})
	}
	return nodes
}

func (s *Server) models(verbose bool) []layout.Node {
	var nodes []layout.Node
	for _, model := range s.Models {
		nodes = append(nodes, layout.Node{Text: fmt.Sprintf("%s (%s)", model.ID, model.Type)})
	}
	return shortened(nodes, verbose)
}

// shortened returns the first nodes, and a node with the number of omitted nodes. If verbose is true or at most one
// node would be omitted, it returns all nodes.
func shortened(nodes []layout.Node, verbose bool) []layout.Node {
	if verbose || len(nodes) <= maxShown+1 {
		return nodes
	}
	return append(nodes[:maxShown:maxShown], layout.Node{Text: fmt.Sprintf("and %d more", len(nodes)-maxShown)})
}

func (c *Claim) text() string {
	text := fmt.Sprintf("%sPersistentVolumeClaim %s: %s, %s", mark(c.Phase == "Bound"), c.Name, c.Phase, c.Size)
	if c.GrowsTo != "" {
		text += ", growing to " + c.GrowsTo
	}
	if c.Class != "" {
		text += ", storage class " + c.Class
	}
	return text
}

func (e *Exposure) text(url string) string {
	if e.Problem != "" {
		return marks[Wrong] + e.Problem
	}
	return fmt.Sprintf("%s%s %s: %s", marks[OK], e.Kind, e.Name, cmp.Or(url, "no URL yet"))
}

func (a *Autoscaler) text() string {
	text := fmt.Sprintf("%sHorizontalPodAutoscaler %s: %d to %d pods, now %d", mark(a.Problem == ""), a.Name, a.Min, a.Max,
		a.Current)
	if a.Desired != a.Current {
		text += fmt.Sprintf(", soon %d", a.Desired)
	}
	if a.Problem != "" {
		text += ": " + a.Problem
	}
	return text
}
