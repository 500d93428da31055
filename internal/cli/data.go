package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
)

// readPrevious returns the running stacks. The objects that they refer to may be in either set of files.
func (m *manifests) readPrevious(path, namespace string, stdin io.Reader) (*manifests, error) {
	const flag = "--previous: "
	documents, err := document.Read(path, stdin)
	if err != nil {
		return nil, fmt.Errorf(flag+"%w", err)
	}
	previous, err := gather(documents, []string{path}, namespace)
	if rejected, ok := errors.AsType[*rejection](err); ok {
		for i := range rejected.problems {
			rejected.problems[i] = flag + rejected.problems[i]
		}
		return nil, rejected
	}
	if err != nil {
		return nil, fmt.Errorf(flag+"%w", err)
	}
	var unreadable []string
	for _, s := range previous.stacks {
		if s.object.Name == "" && !s.decoded {
			unreadable = append(unreadable, flag+s.title()+": "+s.errs[0])
		}
	}
	if len(unreadable) > 0 {
		return nil, &rejection{problems: unreadable, summary: "the running stacks are not known"}
	}
	previous.config = m.config
	for key, configMap := range m.configMaps {
		if _, own := previous.configMaps[key]; !own {
			previous.configMaps[key] = configMap
		}
	}
	return previous, nil
}

// offlineChange plans a stack as a change of the running stack with the same name and namespace.
func (m *manifests) offlineChange(s stack, previous *manifests) outcome {
	i := slices.IndexFunc(previous.stacks, func(other stack) bool {
		return other.object.Name == s.object.Name && other.object.Namespace == s.object.Namespace
	})
	if i < 0 {
		found := m.offline(s)
		found.notes = append(found.notes, fmt.Sprintf("--previous does not contain stack %q of namespace %q; its data is "+
			"not checked",
			s.object.Name, s.object.Namespace))
		return found
	}
	before := previous.stacks[i]
	running := previous.offline(before)
	if running.plan == nil {
		found := m.offline(s)
		found.warnings = append(found.warnings, "the stack in --previous gives no configuration, so its data is not "+
			"checked: "+
			before.title()+": "+running.errs[0])
		return found
	}
	if names.Compat(before.object.Annotations) && !names.Compat(s.object.Annotations) {
		// Applying a manifest of another version does not remove the annotation.
		s.object = s.object.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.object.ObjectMeta, names.AnnotationCompat,
			before.object.Annotations[names.AnnotationCompat])
	}
	return m.offlineSince(s, running.plan.Places)
}

// data reports the data that a change leaves behind. It is an error if the roll-out would wait for a decision.
func (o *outcome) data(built *plan.Plan) {
	waiting, unknown := built.Waiting()
	for _, loss := range built.Losses {
		if slices.ContainsFunc(waiting, func(l retention.Loss) bool { return l.String() == loss.String() }) {
			o.errs = append(o.errs, loss.String()+retention.Unknown(waiting, unknown))
		} else {
			o.lost = append(o.lost, loss.String())
		}
	}
}
