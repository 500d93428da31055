package stackstatus

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/view/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// Verdict is the end of a report.
type Verdict struct {
	Level Level `json:"level"`
	// Sentence states what is wrong, or that all is well.
	Sentence string `json:"sentence"`
	// Next is the command to run next. It is empty if none is needed.
	Next string `json:"next,omitempty"`
}

// maxMessage bounds, in bytes, the part of a condition's message that the sentence repeats.
const maxMessage = 600

// decide returns the verdict on a stack. The first case that applies is the one to deal with first.
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
			said(explanation(facts.Stack.Status.Conditions, ready)))
		return d.verdict(levelOf(facts.Stack, ready), sentence, d.nextFor(ready.Reason))
	}
}

// explanation returns the message of the condition that Ready follows. Ready itself names only that condition.
func explanation(conditions []metav1.Condition, ready *metav1.Condition) string {
	if cause := status.Cause(conditions); cause != nil {
		return cause.Message
	}
	return ready.Message
}

// decision holds what a verdict is made of.
type decision struct {
	facts  *Facts
	report *Report
}

func (d *decision) verdict(level Level, sentence, next string) Verdict {
	return Verdict{Level: level, Sentence: strings.TrimSuffix(sentence, ".") + ".", Next: next}
}

// run returns a command of this program about the stack.
func (d *decision) run(verb string) string {
	return command("kubectl llamastack "+verb, &d.report.Row, d.facts.Flags)
}

// kubectl returns a command of kubectl about an object of the stack's namespace.
func (d *decision) kubectl(words string) string {
	return "kubectl " + words + " -n " + d.report.Namespace + d.facts.Flags
}

func (d *decision) deleting() Verdict {
	gone := d.report.Deleting
	sentence := fmt.Sprintf("The deletion of the stack began %s ago", layout.Age(gone.Since.Time, d.facts.Now))
	next := d.run("status") + " --watch"
	if len(gone.Finalizers) > 0 {
		sentence += ", and it waits until these finalizers are removed: " + strings.Join(gone.Finalizers, ", ")
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
	return d.verdict(Wrong, fmt.Sprintf("No operator has observed %s in %s, so an operator may not be running",
		what, layout.Age(changedAt(stack), d.facts.Now)), "kubectl llamastack doctor"+d.facts.Flags)
}

func (d *decision) paused() Verdict {
	sentence := fmt.Sprintf(
		"The stack is paused: the operator writes only its status while the annotation %s is \"true\"",
		names.AnnotationPaused,
	)
	if d.report.Deployment != nil {
		sentence += fmt.Sprintf("; %d of %s", d.report.Deployment.Available, serve(d.report.Deployment.Wanted))
	}
	return d.verdict(Warning, sentence, d.kubectl("annotate llsd "+d.report.Name+" "+names.AnnotationPaused+"-"))
}

// serve returns "1 pod serves" or "2 pods serve".
func serve(number int32) string {
	if number == 1 {
		return "1 pod serves"
	}
	return fmt.Sprintf("%d pods serve", number)
}

func (d *decision) ready(ready *metav1.Condition) Verdict {
	conditions := d.facts.Stack.Status.Conditions
	// The status may be older than the objects: the operator needs time, or does not run.
	if live := d.live(); live.Status == metav1.ConditionFalse {
		return d.workload(live.Reason, live.Message)
	}
	for _, kind := range []string{v1alpha2.ConditionDegraded, v1alpha2.ConditionDataLeftBehind} {
		if found := meta.FindStatusCondition(conditions, kind); found != nil && found.Status == metav1.ConditionTrue {
			sentence := fmt.Sprintf(
				"The stack serves, with a warning (%s): %s",
				Words(found.Reason),
				said(found.Message),
			)
			return d.verdict(Warning, sentence, d.nextFor(found.Reason))
		}
	}
	if ready.Reason == v1alpha2.ReasonScaledToZero {
		return d.verdict(OK, "The stack is scaled to zero as its specification asks, so no server runs",
			d.kubectl("scale llsd "+d.report.Name+" --replicas=1"))
	}
	if sick := d.report.Server.unhealthy(); len(sick) > 0 {
		return d.verdict(
			Warning,
			"The stack serves, and the server reports an error of "+strings.Join(sick, ", "),
			d.run("logs"),
		)
	}
	sentence := "All is well"
	if d.report.URL != "" {
		sentence += ": the server answers at " + d.report.URL
	}
	if adopted := meta.FindStatusCondition(conditions, v1alpha2.ConditionAdopted); adopted != nil &&
		adopted.Status == metav1.ConditionFalse {
		return d.verdict(
			OK,
			sentence+"; the pods run the template of another version of the operator until the next change or restart",
			d.kubectl("rollout restart deployment/"+names.Deployment(d.report.Name)),
		)
	}
	if d.report.URL != "" { // a URL is copied without a period
		return Verdict{Level: OK, Sentence: sentence}
	}
	return d.verdict(OK, sentence, "")
}

// live returns what the condition Available would be for the objects that were read.
func (d *decision) live() metav1.Condition {
	if d.facts.Deployment == nil || len(d.facts.ReplicaSets) == 0 {
		return metav1.Condition{}
	}
	return status.Workload(status.WorkloadInput{
		Deployment: d.facts.Deployment, ReplicaSets: d.facts.ReplicaSets, Pods: d.facts.Pods, Now: d.facts.Now,
	}).Available
}

// isWorkload reports whether a reason of Ready is about pods.
func isWorkload(reason string) bool {
	switch reason {
	case v1alpha2.ReasonRolloutInProgress, v1alpha2.ReasonRolloutFailed, v1alpha2.ReasonReplicasUnavailable:
		return true
	default:
		return false
	}
}

// workload returns the verdict on pods that do not all serve.
func (d *decision) workload(reason, message string) Verdict {
	counted, problem := split(message)
	if problem == "" {
		_, problem = split(d.live().Message)
	}
	sentence := "The stack is rolling out"
	switch serving := d.servingEarlier(); {
	case reason == v1alpha2.ReasonReplicasUnavailable:
		sentence = "Pods were lost after a complete roll-out"
	case serving > 0 && reason == v1alpha2.ReasonRolloutFailed:
		sentence = fmt.Sprintf("The roll-out is stuck, and %s", still(serving))
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
		return "1 pod of the earlier configuration still serves"
	}
	return fmt.Sprintf("%d pods of the earlier configuration still serve", number)
}

// split divides the message of Available into the number of pods that serve, and the problem of one that does not.
func split(message string) (counted, problem string) {
	counted, problem, _ = strings.Cut(said(message), ": ")
	return counted, problem
}

// said returns the first line of a message, without a command that the verdict has too.
func said(message string) string {
	first, rest, several := strings.Cut(message, "\n")
	if at := strings.Index(first, "; see kubectl "); at >= 0 {
		first = first[:at]
	}
	if several {
		first = fmt.Sprintf(
			"%s (and %s)",
			strings.TrimRight(first, ";. "),
			count(strings.Count(rest, "\n")+1, "further line"),
		)
	}
	return status.Shorten(first, maxMessage)
}
