package installation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

func checkOperators(r *report, facts *Facts) {
	if facts.Operators.Problem != "" {
		r.unknown("the operator", facts.Operators.Problem)
		return
	}
	if len(facts.Operators.Value) == 0 {
		r.add(Error, "the operator's Deployment does not exist", "set --operator-namespace to the operator's namespace, or "+install)
		return
	}
	var placed []string
	for i := range facts.Operators.Value {
		operator := &facts.Operators.Value[i]
		placed = append(placed, operator.Namespace+"/"+operator.Name)
		checkOperator(r, operator)
	}
	if len(placed) > 1 {
		r.add(Error, "several operators are installed: "+list(placed), keepOne)
		return
	}
	checkLeases(r, facts)
}

const keepOne = "keep the operator in the namespace of the CustomResourceDefinition's conversion webhook, and remove the " +
	"others; see docs/how-to/upgrade-operator.md#two-operators"

func checkOperator(r *report, operator *appsv1.Deployment) {
	wanted := int32(1)
	if operator.Spec.Replicas != nil {
		wanted = *operator.Spec.Replicas
	}
	name := fmt.Sprintf("Deployment %s/%s", operator.Namespace, operator.Name)
	ready := operator.Status.ReadyReplicas
	remedy := fmt.Sprintf("check the pods and their logs: kubectl logs -n %s deployment/%s", operator.Namespace,
		operator.Name)
	switch {
	case wanted == 0:
		r.add(Error, name+" has 0 replicas",
			fmt.Sprintf("run kubectl scale -n %s deployment/%s --replicas=2", operator.Namespace, operator.Name))
	case ready == 0:
		r.add(Error, fmt.Sprintf("%s has no ready pods, but should have %d", name, wanted), remedy)
	case ready < wanted:
		r.add(Warning, fmt.Sprintf("%s does not have enough ready pods: %d of %d", name, ready, wanted), remedy)
	case ready == 1:
		r.ok(name + " has 1 ready pod")
	default:
		r.ok(fmt.Sprintf("%s has %d ready pods", name, ready))
	}
}

// renewed is the maximum age of a lease in use. A leader renews its lease every few seconds.
const renewed = time.Minute

// checkLeases finds operators whose Deployments do not have the usual labels, for example operators that OLM has
// installed.
func checkLeases(r *report, facts *Facts) {
	if facts.Leases.Problem != "" {
		r.unknown("the operator leases", facts.Leases.Problem)
		return
	}
	var used []string
	for _, lease := range facts.Leases.Value {
		if at := lease.Spec.RenewTime; at != nil && facts.Now.Sub(at.Time) < renewed {
			used = append(used, lease.Namespace)
		}
	}
	if len(used) > 1 {
		r.add(Error, "operators are active in several namespaces: "+list(used), keepOne)
	}
}

// checkVersions compares the operator's version with the version of the command-line tool.
func checkVersions(r *report, facts *Facts) {
	running := operatorVersions(facts)
	switch {
	case facts.Operators.Problem != "" && len(running) == 0:
		r.unknown("the version of the operator", facts.Operators.Problem)
	case len(running) == 0:
		r.add(Warning, "the operator's version is unknown; this command has version "+facts.Command,
			"compare the version of the operator's image with the version of this command")
	case slices.ContainsFunc(running, func(v string) bool { return !sameVersion(v, facts.Command) }):
		r.add(Warning, fmt.Sprintf("the operator has version %s, and this command has version %s", list(running), facts.Command),
			"use the version of the command that matches the operator, because the results of other versions might differ")
	default:
		r.ok("the operator and this command have version " + facts.Command)
	}
}

// operatorVersions returns the versions of the operator: the version in the most recent status of any stack. If there
// is no such version, or there are several operators, it returns the versions in the labels of their Deployments, or
// the tags of their images.
func operatorVersions(facts *Facts) []string {
	var found []string
	add := func(version string) {
		if version != "" && !slices.Contains(found, version) {
			found = append(found, version)
		}
	}
	if newest := newestStatus(facts.Stacks.Value); newest != nil {
		add(newest.OperatorVersion)
	}
	for i := range facts.Operators.Value {
		if len(found) > 0 && len(facts.Operators.Value) == 1 {
			break
		}
		// A release states its version in a label, because it names its image by digest.
		if labeled := facts.Operators.Value[i].Labels["app.kubernetes.io/version"]; labeled != "" {
			add(labeled)
			continue
		}
		for _, container := range facts.Operators.Value[i].Spec.Template.Spec.Containers {
			add(imagename.Tag(container.Image))
		}
	}
	return found
}

// newestStatus returns the version in the most recent status of any stack. It ignores the status of an operator for
// v1alpha1, which does not observe generations.
func newestStatus(stacks []v1alpha2.LlamaStackDistribution) *v1alpha2.VersionStatus {
	var newest *v1alpha2.VersionStatus
	for i := range stacks {
		version := stacks[i].Status.Version
		if version == nil || version.LastUpdated == nil || stacks[i].Status.ObservedGeneration == 0 {
			continue
		}
		if newest == nil || newest.LastUpdated.Before(version.LastUpdated) {
			newest = version
		}
	}
	return newest
}

func sameVersion(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }
