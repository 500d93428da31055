package images

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// External holds the metadata in the images of external providers, by the provider's ID.
type External struct {
	Packages map[string]*externalprovider.Package
	Digests  map[string]string
}

// External collects the metadata in the images of external providers. The operator reads each image once, and
// uses the result until the spec contains a different image. The stack waits until the attempts to read the images have
// finished. If an attempt fails, the pods read the missing metadata before the server starts.
func (r *Reader) External(
	stack *stack, spec *intent.Intent, image *Image, workload *facts.Running, report *report.Report,
) (External, error) {
	found := External{map[string]*externalprovider.Package{}, map[string]string{}}
	var unread []externalImage
	for i := range spec.External {
		provider := &spec.External[i]
		known, err := plan.RecordedImage(workload.Record.External, provider)
		if err != nil {
			return found, err
		}
		if known != nil {
			found.add(provider.ID, known)
		}
		if known == nil || known.Changed {
			unread = append(unread, imageToRead(provider, known))
		}
	}
	if len(unread) == 0 || !image.Config.Registries.ReadLabels {
		r.Pool.ForgetProviders(client.ObjectKeyFromObject(stack))
		return found, nil
	}
	outcomes, err := r.readExternalImages(stack, unread)
	if err != nil {
		return found, err
	}
	if note := found.addRead(unread, outcomes); note != "" {
		report.Warning(v1alpha2.EventImageLabelsUnreadable, note)
	}
	return found, nil
}

// externalImage is an image of an external provider that the operator has to read.
type externalImage struct{ provider, image string }

// imageToRead returns the image of a provider. If the image was read before, the result contains the recorded digest.
func imageToRead(provider *intent.ExternalProvider, known *plan.ExternalImage) externalImage {
	wanted := externalImage{provider.ID, provider.Image}
	if known != nil && known.Digest != "" && !strings.Contains(wanted.image, "@") {
		wanted.image += "@" + known.Digest
	}
	return wanted
}

// readExternalImages returns the outcomes of reading images. Until the attempts for all images have finished, it
// returns a failure.
func (r *Reader) readExternalImages(stack *stack, unread []externalImage) (map[string]registry.Outcome, error) {
	credentials, err := credentialsOf(stack)
	if err != nil {
		return nil, err
	}
	target := registry.Providers{Stack: client.ObjectKeyFromObject(stack), Credentials: credentials}
	for _, wanted := range unread {
		if !slices.Contains(target.Images, wanted.image) {
			target.Images = append(target.Images, wanted.image)
		}
	}
	outcomes, ended := r.Pool.ReadProviders(target)
	if !ended {
		return nil, &status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonReadingExternalProviders, Unknown: true,
			Retry: status.OnReferenceChange,
			Message: "The operator is reading the labels of " + status.Count(len(target.Images), "image") +
				" of external providers",
		}
	}
	return outcomes, nil
}

func (f *External) add(id string, known *plan.ExternalImage) {
	if known.Package != nil {
		f.Packages[id] = known.Package
	}
	if known.Digest != "" {
		f.Digests[id] = known.Digest
	}
}

// addRead adds the metadata that was read. It returns a note about labels that could not be read, or an empty string.
func (f *External) addRead(unread []externalImage, outcomes map[string]registry.Outcome) (note string) {
	var failed []string
	for _, wanted := range unread {
		outcome := outcomes[wanted.image]
		read, err := packageOf(outcome)
		if outcome.Err == nil {
			f.add(wanted.provider, read)
		}
		if err != nil {
			failed = append(failed, fmt.Sprintf("%q: %s", wanted.provider, status.Shorten(err.Error(), maxExternalCause)))
		}
	}
	if len(failed) == 0 {
		return ""
	}
	shown := failed[:min(len(failed), maxExternalCauses)]
	note = "The labels of external providers' images cannot be read: " + strings.Join(shown, "; ")
	if more := len(failed) - len(shown); more > 0 {
		note += fmt.Sprintf("; and %d more", more)
	}
	return note + ". Until you change the images in the spec, each pod determines the type and the module of these providers when the pod starts"
}

const (
	// maxExternalCauses and maxExternalCause bound the number and the length of causes in the note of an event.
	maxExternalCauses = 3
	maxExternalCause  = 240
)

// packageOf returns the metadata that was read from an image. An unusable label, unlike a missing one, is an error.
func packageOf(outcome registry.Outcome) (*plan.ExternalImage, error) {
	if outcome.Err != nil {
		return nil, outcome.Err
	}
	read := &plan.ExternalImage{Digest: outcome.Image.Digest}
	if outcome.Image.Provider == "" {
		return read, nil
	}
	var err error
	read.Package, err = externalprovider.FromLabel(outcome.Image.Provider)
	return read, err
}
