package admission

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// Options are the options of a Validator.
type Options struct {
	// Config returns the operator's current configuration. If it returns an error, the Validator checks only the rules
	// that need no configuration. Config is required.
	Config func(context.Context) (operatorconfig.Config, error)
	// NamespaceLabels returns the labels of a namespace. The Validator calls it to find out whether a namespace exists,
	// and if the bounds of the namespace depend on its labels. NamespaceLabels is required.
	NamespaceLabels func(ctx context.Context, namespace string) (map[string]string, error)
	// Claim returns the PersistentVolumeClaim of a stack, or nil if it does not exist. The Validator calls it only for an
	// update that changes the volume. Claim is required.
	Claim func(ctx context.Context, key client.ObjectKey) (*corev1.PersistentVolumeClaim, error)
	// ConfigMap returns a ConfigMap. The Validator calls it only for the ConfigMap with the user's configuration.
	// ConfigMap is required.
	ConfigMap func(ctx context.Context, key client.ObjectKey) (*corev1.ConfigMap, error)
	// RelatedImages replace the images in the catalog, unless the operator's ConfigMap replaces them.
	RelatedImages distribution.Overrides
	// OpenShift reports whether the cluster is OpenShift.
	OpenShift bool
	// Writer sends the objects of a stack to the API server as a dry run. Nil means that the Validator sends nothing.
	Writer client.Writer
}

// maxPlans bounds the number of concurrent comparisons with a release. plansPerNamespace is the share of a namespace.
const (
	maxPlans          = 2
	plansPerNamespace = 1
)

// maxClaims bounds the number of concurrent reads of a claim. claimsPerNamespace is the share of a namespace.
const (
	maxClaims          = 4
	claimsPerNamespace = 1
)

// Validator decides whether the API server may store a stack.
type Validator struct {
	options Options
	plans   *share.Slots
	claims  *share.Slots
	// trials limits the dry runs, and waiting the requests that wait for one.
	trials, waiting *share.Slots
	// lookups limits the reads of namespaces, and namespaces contains the names of some that exist.
	lookups    *share.Slots
	namespaces *lru.Cache
}

var _ admission.Handler = (*Validator)(nil)

// NewValidator returns a Validator.
func NewValidator(options Options) *Validator {
	return &Validator{
		options: options, plans: share.NewSlots(maxPlans, plansPerNamespace),
		claims:  share.NewSlots(maxClaims, claimsPerNamespace),
		trials:  share.NewSlots(maxTrials, trialsPerNamespace),
		waiting: share.NewSlots(maxWaiting, waitingPerNamespace),
		lookups: share.NewSlots(maxLookups, maxLookups), namespaces: lru.New(maxNamespaces),
	}
}

// Handle answers one request. It allows an update that does not change the spec, or whose object is being deleted. It
// denies any other create or update request whose object it cannot decode. It turns an error that the stored object
// already has into a warning. It denies an update through v1alpha1 that would remove fields of the stored object,
// because the annotation for such fields has no space for them.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update || request.SubResource != "" {
		return admission.Allowed("")
	}
	if isDeleted(request.Object.Raw) {
		return admission.Allowed("")
	}
	object, warnings, problems := decode(request.Object.Raw)
	if len(problems) > 0 {
		problems = intent.BoundedTexts(problems)
		if keepsSpec(request) {
			problems, warnings = nil, append(warnings, problems...)
		}
		return answer(request, problems, warnings)
	}
	before := stored(request)
	if before != nil && reflect.DeepEqual(before.Spec, object.Spec) {
		return answer(request, nil, markRemoved(before, object))
	}
	if lost := loses(request); lost != nil {
		return answer(request, []string{lost.Error()}, nil)
	}
	messages, further := v.judge(ctx, before, object)
	if before != nil {
		warnings = append(markRemoved(before, object), warnings...)
	}
	return answer(request, messages, append(warnings, further...))
}

// judge returns the errors and the warnings for a stack. before is the stored stack, or nil.
func (v *Validator) judge(ctx context.Context, before, object *stack) (errs, warnings []string) {
	earlier, known := findings{}, map[string]bool{}
	if before != nil {
		earlier = v.check(ctx, before, nil)
	}
	found := v.check(ctx, object, earlier.places)
	for _, err := range earlier.errs {
		known[identity(err)] = true
	}
	errs, warnings = ratchet(intent.Bounded(found.errs), known, found.warnings)
	refused, further := v.volume(ctx, before, object)
	errs, warnings = append(errs, refused...), append(warnings, further...)
	if len(errs) == 0 && v.tries(object, found.rendering) {
		if before != nil && !names.Paused(before.Annotations) { // the operator has not applied the objects of a paused stack
			found.rendering.Unlike(earlier.rendering)
		}
		tried := v.try(ctx, object.Namespace, found.rendering, earlier.rendering)
		errs, warnings = tried.Errors, append(warnings, tried.Warnings...)
	}
	return errs, warnings
}

// ratchet turns errors that the stored object already has into warnings. The map contains their identities.
func ratchet(found field.ErrorList, known map[string]bool, warnings []string) (errs, told []string) {
	for _, err := range found {
		if known[identity(err)] {
			warnings = append(warnings, intent.Message(err))
		} else {
			errs = append(errs, intent.Message(err))
		}
	}
	return errs, warnings
}

// identity identifies an error in the objects before and after an update. A text that its field does not accept has the
// same error for every reason, because the update of another field can change the reason.
func identity(err *field.Error) string {
	if text, isText := err.BadValue.(string); isText && err.Type == field.ErrorTypeInvalid {
		return err.Field + " " + text
	}
	return intent.Message(err)
}

// answer allows a request if there are no errors, and denies it otherwise. Messages use the field names of the version
// in which the user wrote the stack.
func answer(request admission.Request, errs, warnings []string) admission.Response {
	if kind := request.RequestKind; kind != nil && kind.Version == v1alpha1.GroupVersion.Version {
		errs, warnings = asOlder(errs), asOlder(warnings)
	}
	if len(errs) == 0 {
		return admission.Allowed("").WithWarnings(warnings...)
	}
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Warnings: warnings,
		Result: &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
			Message: strings.Join(errs, "\n"),
			Details: &metav1.StatusDetails{
				Group: v1alpha2.GroupVersion.Group, Kind: v1alpha2.Kind, Name: request.Name, Causes: causes(errs),
			},
		},
	}}
}

// causes returns the errors, each split into a field and a message. kubectl prints the causes of a status that has
// details, but not the message of this status.
func causes(errs []string) []metav1.StatusCause {
	found := make([]metav1.StatusCause, 0, len(errs))
	for _, err := range errs {
		cause := metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Message: err}
		if path, message, ok := strings.Cut(err, ": "); ok && !strings.Contains(path, " ") {
			cause.Field, cause.Message = path, message
		}
		found = append(found, cause)
	}
	return found
}

func asOlder(texts []string) []string {
	renamed := slices.Clone(texts)
	for i := range renamed {
		renamed[i] = convert.OlderPaths(renamed[i])
	}
	return renamed
}
