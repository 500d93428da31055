package planning

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// Secrets holds the values of the Secrets that the spec refers to.
type Secrets struct {
	Values     resolve.Values
	References rollout.References
	// digestKey is the key for the digests of Secrets in the stack's namespace.
	digestKey resolve.DigestKey
}

// ReadSecrets checks the referenced Secrets and computes a digest of their values, so that a change to a value replaces
// the pods.
func (p *Planner) ReadSecrets(
	ctx context.Context, stack *stack, wishes *intent.Intent, image *distribution.Resolved, budget *resolve.Budget,
	report *report.Report,
) (Secrets, error) {
	uses := wishes.Secrets
	if len(uses) == 0 {
		report.MarkTrue(v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonNoSecretsReferenced, noSecrets(&stack.Spec))
		return Secrets{}, nil
	}
	key, err := p.DigestKeys.Get(ctx)
	if err != nil {
		return Secrets{}, err
	}
	own := key.For(stack.Namespace)
	values, err := resolve.Secrets(ctx, p.Direct, resolve.SecretQuery{
		Namespace: stack.Namespace, Cache: p.Cache, Uses: uses, Key: own, Budget: budget,
		Text: stackconfig.WantsText(wishes, image.Release), Now: p.Now(),
		Answers: p.answers, Changed: stack.Status.ObservedGeneration != stack.Generation,
	})
	if err != nil {
		return Secrets{}, err
	}
	message := "Resolved " + status.Count(references(uses), "secret reference") + p.expiring(stack, values, report)
	report.MarkTrue(v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonAllSecretsFound, message)
	return Secrets{Values: values, digestKey: own, References: rollout.References{
		Digest: values.Digest(), Key: own.ID,
	}}, nil
}

// noSecrets returns the message about a spec without a reference that the operator checks. It does not look for
// references in the overrides, so it does not claim that there are none.
func noSecrets(spec *v1alpha2.LlamaStackDistributionSpec) string {
	if spec.Workload == nil || spec.Workload.Overrides == nil {
		return "The spec does not refer to any Secret"
	}
	return "Outside of spec.workload.overrides, whose references the operator does not check, the spec does not refer to any Secret"
}

// references returns the number of fields that refer to a Secret. A field with a certificate uses two keys, but counts
// once.
func references(uses []intent.SecretUse) int {
	paths := map[string]bool{}
	for _, use := range uses {
		paths[use.Path] = true
	}
	return len(paths)
}

// expiryNotice is the time between the first warning about a certificate and its expiry.
const expiryNotice = 14 * 24 * time.Hour

// expiring returns a warning for the condition if the certificate expires soon. It requeues the stack for the time when
// the warning starts and for the expiry, because no change to an object triggers a reconcile at these times.
func (p *Planner) expiring(stack *stack, values resolve.Values, report *report.Report) string {
	secret, end := values.Expiry()
	if secret == "" {
		return ""
	}
	if notice := end.Add(-expiryNotice); p.Now().Before(notice) {
		report.Requeue(notice)
		return ""
	}
	report.Requeue(end.Add(time.Second)) // the certificate is valid through its last second
	warning := fmt.Sprintf("; the certificate in Secret %q expires on %s. Renew the certificate; the renewal replaces the pods once",
		secret, end.UTC().Format(time.DateOnly))
	was := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionSecretsResolved)
	if was == nil || !strings.HasSuffix(was.Message, warning) {
		report.Warning(v1alpha2.EventCertificateExpires, strings.TrimPrefix(warning, "; "))
	}
	return warning
}
