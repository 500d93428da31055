package status

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// Verdict is the conclusion of a report.
type Verdict struct {
	Level Level `json:"level"`
	// Sentence describes the problem, or states that there is none.
	Sentence string `json:"sentence"`
	// Next is the next command to run. Empty means that no command is needed.
	Next string `json:"next,omitempty"`
}

// maxMessage is the maximum size in bytes of a condition's message in the sentence of a verdict.
const maxMessage = 600

// decide returns the verdict on a stack. The verdict describes the most urgent problem.
func decide(facts *Facts, r *Report) Verdict {
	d := decision{facts: facts, report: r}
	switch seen := observe(facts.Stack, facts.Now); {
	case r.Deleting != nil:
		return d.deleting()
	case seen == older:
		return d.older()
	case seen != current:
		return d.notObserved(seen)
	case r.Paused:
		return d.paused()
	}
	ready := meta.FindStatusCondition(facts.Stack.Status.Conditions, v1alpha2.ConditionReady)
	switch {
	case ready == nil:
		return d.notObserved(unobserved)
	case ready.Status == metav1.ConditionTrue:
		return d.ready(ready)
	case isWorkload(ready.Reason):
		return d.workload(ready.Reason, explanation(facts.Stack.Status.Conditions, ready))
	default:
		sentence := fmt.Sprintf("The stack is not ready (%s): %s", Words(ready.Reason),
			firstLine(explanation(facts.Stack.Status.Conditions, ready)))
		return d.verdict(levelOf(facts.Stack, ready), sentence, d.nextFor(ready.Reason))
	}
}

// explanation returns the message of the condition that determines Ready, because Ready contains only the name of that
// condition.
func explanation(conditions []metav1.Condition, ready *metav1.Condition) string {
	if cause := status.Cause(conditions); cause != nil {
		return cause.Message
	}
	return ready.Message
}

// decision contains the input of a verdict.
type decision struct {
	facts  *Facts
	report *Report
}

func (d *decision) verdict(level Level, sentence, next string) Verdict {
	if !strings.HasSuffix(sentence, "?") {
		sentence = strings.TrimSuffix(sentence, ".") + "."
	}
	return Verdict{Level: level, Sentence: sentence, Next: next}
}

// run returns a kubectl llamastack command for the stack.
func (d *decision) run(verb string) string {
	return command("kubectl llamastack "+verb, &d.report.Row, d.facts.Flags)
}

// kubectl returns a kubectl command for objects in the namespace of the stack.
func (d *decision) kubectl(words string) string {
	return "kubectl " + words + " -n " + d.report.Namespace + d.facts.Flags
}

func (d *decision) deleting() Verdict {
	gone := d.report.Deleting
	sentence := fmt.Sprintf("The deletion of the stack began %s ago", layout.Age(gone.Since.Time, d.facts.Now))
	next := d.run("status") + " --watch"
	if len(gone.Finalizers) > 0 {
		sentence += ", and cannot finish until controllers remove these finalizers: " + strings.Join(gone.Finalizers, ", ")
		next = d.kubectl("get all,pvc -l " + names.LabelInstance + "=" + d.report.Name)
	}
	return d.verdict(d.report.Level, sentence, next)
}

func (d *decision) older() Verdict {
	by := "The previous operator"
	if version := d.facts.Stack.Status.Version; version != nil && version.OperatorVersion != "" {
		by += fmt.Sprintf(" (version %s)", version.OperatorVersion)
	}
	sentence := by + " wrote the status, and this operator has not adopted the stack yet"
	if phase := d.report.Phase; phase != "" {
		sentence += fmt.Sprintf("; the phase was %s", phase)
	}
	return d.verdict(Warning, sentence, "kubectl llamastack migrate --dry-run -n "+d.report.Namespace+d.facts.Flags)
}

func (d *decision) notObserved(seen observation) Verdict {
	stack := d.facts.Stack
	what := fmt.Sprintf("generation %d of the stack", stack.Generation)
	if stack.Status.ObservedGeneration == 0 {
		what = "the stack"
	}
	if seen == awaited {
		return d.verdict(Waiting, "The operator has not observed "+what+" yet", d.run("status")+" --watch")
	}
	return d.verdict(Wrong, fmt.Sprintf("No operator has observed %s in %s, so the operator might not be running",
		what, layout.Age(changedAt(stack), d.facts.Now)), "kubectl llamastack doctor"+d.facts.Flags)
}

func (d *decision) paused() Verdict {
	sentence := fmt.Sprintf("The stack is paused: the operator writes only the status while the annotation %s is \"true\"",
		names.AnnotationPaused)
	if d.report.Deployment != nil {
		sentence += fmt.Sprintf("; %d of %s", d.report.Deployment.Available, serve(d.report.Deployment.Wanted))
	}
	return d.verdict(Warning, sentence, d.kubectl("annotate llsd "+d.report.Name+" "+names.AnnotationPaused+"-"))
}

// serve returns "1 pod can serve requests" or "2 pods can serve requests".
func serve(number int32) string {
	if number == 1 {
		return "1 pod can serve requests"
	}
	return fmt.Sprintf("%d pods can serve requests", number)
}

func (d *decision) ready(ready *metav1.Condition) Verdict {
	// The status may be older than the objects, because the operator needs time or is not running.
	if live := d.live(); live.Status == metav1.ConditionFalse {
		return d.workload(live.Reason, live.Message)
	}
	for _, kind := range []string{v1alpha2.ConditionDegraded, v1alpha2.ConditionDataLeftBehind} {
		if found := d.condition(kind, metav1.ConditionTrue); found != nil {
			sentence := fmt.Sprintf("The stack is ready, with a warning (%s): %s", Words(found.Reason), firstLine(found.Message))
			return d.verdict(Warning, sentence, d.nextFor(found.Reason))
		}
	}
	if ready.Reason == v1alpha2.ReasonScaledToZero {
		return d.verdict(OK, "The specification scales the stack to zero, so no server is running",
			d.kubectl("scale llsd "+d.report.Name+" --replicas=1"))
	}
	if sick := d.report.Server.unhealthy(); len(sick) > 0 {
		return d.verdict(Warning, "The stack is ready, but the server reports an error for "+strings.Join(sick, ", "),
			d.run("logs"))
	}
	return d.healthy()
}

// condition returns a condition of the stack if the condition has the given status, and nil otherwise.
func (d *decision) condition(kind string, status metav1.ConditionStatus) *metav1.Condition {
	found := meta.FindStatusCondition(d.facts.Stack.Status.Conditions, kind)
	if found == nil || found.Status != status {
		return nil
	}
	return found
}

// healthy returns the verdict on a stack without problems.
func (d *decision) healthy() Verdict {
	sentence := "The stack is ready"
	if d.report.URL != "" {
		sentence += ": the server is available at " + d.report.URL
	}
	if d.condition(v1alpha2.ConditionAdopted, metav1.ConditionFalse) != nil {
		return d.verdict(OK, sentence+"; the pods use the pod template from another operator version until the next change "+
			"or restart", d.kubectl("rollout restart deployment/"+names.Deployment(d.report.Name)))
	}
	if d.report.URL != "" { // a period would make it difficult to copy the URL
		return Verdict{Level: OK, Sentence: sentence}
	}
	return d.verdict(OK, sentence, "")
}

// live computes the condition Available from the current objects. The result is empty if there is no Deployment, or if
// there are no ReplicaSets.
func (d *decision) live() metav1.Condition {
	if d.facts.Deployment == nil || len(d.facts.ReplicaSets) == 0 {
		return metav1.Condition{}
	}
	return status.Workload(status.WorkloadInput{
		Deployment: d.facts.Deployment, ReplicaSets: d.facts.ReplicaSets, Pods: d.facts.Pods, Now: d.facts.Now,
		Kept: d.condition(v1alpha2.ConditionAdopted, metav1.ConditionFalse) != nil,
	}).Available
}

// isWorkload reports whether a reason of Ready concerns the pods.
func isWorkload(reason string) bool {
	switch reason {
	case v1alpha2.ReasonRolloutInProgress, v1alpha2.ReasonRolloutFailed, v1alpha2.ReasonReplicasUnavailable:
		return true
	default:
		return false
	}
}

// workload returns the verdict on a stack with pods that do not serve requests.
func (d *decision) workload(reason, message string) Verdict {
	counted, problem := split(message)
	if problem == "" {
		_, problem = split(d.live().Message)
	}
	sentence := "A rollout is in progress"
	switch serving := d.servingEarlier(); {
	case reason == v1alpha2.ReasonReplicasUnavailable:
		sentence = "Pods became unavailable after a complete rollout"
	case serving > 0 && reason == v1alpha2.ReasonRolloutFailed:
		sentence = fmt.Sprintf("The rollout is stuck, and %s", still(serving))
	case reason == v1alpha2.ReasonRolloutFailed && d.servingCurrent() > 0:
		sentence = fmt.Sprintf("Only %d of %s", d.servingCurrent(), serve(d.report.Deployment.Wanted))
	case reason == v1alpha2.ReasonRolloutFailed:
		sentence = "The pods do not start"
	case serving > 0:
		sentence += ", and " + still(serving)
	}
	sentence += ": " + cmp.Or(problem, counted)
	level := Waiting
	if problem != "" || reason != v1alpha2.ReasonRolloutInProgress {
		level = Wrong
	}
	return d.verdict(level, sentence, d.nextForPods())
}

func (d *decision) servingEarlier() int32 {
	if d.report.Deployment == nil {
		return 0
	}
	return d.report.Deployment.servingEarlier()
}

func (d *decision) servingCurrent() int32 {
	if d.report.Deployment == nil {
		return 0
	}
	return d.report.Deployment.Available - d.report.Deployment.servingEarlier()
}

func still(number int32) string {
	if number == 1 {
		return "1 pod with the earlier configuration still serves requests"
	}
	return fmt.Sprintf("%d pods with the earlier configuration still serve requests", number)
}

// split splits the message of Available into the number of pods that serve requests, and the problem with a pod that
// does not serve requests.
func split(message string) (counted, problem string) {
	counted, problem, _ = strings.Cut(firstLine(message), ": ")
	return counted, problem
}

// firstLine returns the first line of a message, with the number of further lines. It removes the kubectl command at
// the end of the line, because the verdict contains the next command.
func firstLine(message string) string {
	first, rest, several := strings.Cut(message, "\n")
	if at := strings.Index(first, "; see kubectl "); at >= 0 {
		first = first[:at]
	}
	if several {
		more := status.Count(strings.Count(rest, "\n")+1, "more line")
		first = fmt.Sprintf("%s (and %s)", strings.TrimRight(first, ";. "), more)
	}
	return status.Shorten(first, maxMessage)
}
