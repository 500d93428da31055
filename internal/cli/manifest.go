package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/ogxserver"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/suggest"
)

// defaultNamespace is the namespace of objects that name none.
const defaultNamespace = "default"

// manifests holds the objects from all files that the pipeline can use. Other kinds are skipped, so that you can pass
// whole folders.
type manifests struct {
	stacks     []stack
	configMaps map[objectKey]*corev1.ConfigMap
	secrets    map[objectKey]*corev1.Secret
	// secretsTwice holds the Secrets that are in several files. It is not known which of them a stack refers to.
	secretsTwice map[objectKey]bool
	// others lists the skipped kinds. notes lists messages about unreadable files.
	others, notes []string
	// config is the configuration from the operator's ConfigMap.
	config operatorconfig.Config
	// live reports whether the objects come from a cluster and not from files.
	live bool
	// denied holds the ConfigMaps of the cluster that the caller may not read.
	denied map[objectKey]bool
	// running is what a cluster shows of the stack that is planned. Nil means that it is not known.
	running *running
}

// stack is a LlamaStackDistribution and the file that contains it.
type stack struct {
	file string
	// doc is the text of the stack, for the positions of findings. Nil means that the stack is not from a file.
	doc    *document.Document
	object *v1alpha2.LlamaStackDistribution
	// decoded reports whether object holds the readable values. A document with a wrong group, a misspelt field or a
	// value of the wrong type is decoded too, so that all its mistakes are reported together.
	decoded bool
	// older reports whether the document is of v1alpha1. object is then the stored version, v1alpha2.
	older bool
	// unfit lists the paths of values that were left out because they do not fit their fields.
	unfit []string
	// errs lists the decoding errors. warnings lists fields without effect.
	errs, warnings []string
}

type objectKey struct{ namespace, name string }

// gather returns the objects of documents. Names are those of their files.
func gather(documents []document.Document, names []string, namespace string) (*manifests, error) {
	found := &manifests{
		configMaps: make(map[objectKey]*corev1.ConfigMap),
		secrets:    make(map[objectKey]*corev1.Secret), secretsTwice: make(map[objectKey]bool),
	}
	for _, doc := range documents {
		found.add(doc, namespace)
	}
	if len(found.stacks) == 0 {
		return nil, found.nothing(names)
	}
	return found, nil
}

// choose removes the stacks that a label selector does not select. A text that cannot be read stays, because its labels
// are not known.
func (m *manifests) choose(selector string) error {
	if selector == "" {
		return nil
	}
	chosen, err := labels.Parse(selector)
	if err != nil {
		return fmt.Errorf("--selector %q: %w", selector, err)
	}
	m.stacks = slices.DeleteFunc(m.stacks, func(s stack) bool {
		return (s.decoded || s.object.Name != "") && !chosen.Matches(labels.Set(s.object.Labels))
	})
	if len(m.stacks) == 0 {
		return &rejection{problems: []string{fmt.Sprintf("--selector %q: no stack of the files has these labels", selector)}, summary: "nothing to read"}
	}
	return nil
}

// nothing returns the error for files without a stack.
func (m *manifests) nothing(paths []string) error {
	problem := fmt.Sprintf("no %s in %s", v1alpha2.Kind, strings.Join(paths, ", "))
	if len(m.others) > 0 {
		problem += "; found only " + strings.Join(m.others, ", ")
	}
	if slices.Contains(m.others, ogxserver.Kind) {
		problem += "; use kubectl llamastack convert to convert an " + ogxserver.Kind + " to a stack"
	}
	return &rejection{problems: append(slices.Clone(m.notes), problem), summary: "no stack was found"}
}

// add stores one document by its kind. Problems are recorded for the document, and reading continues.
func (m *manifests) add(doc document.Document, namespace string) {
	if doc.Data == nil {
		m.unread(doc)
		return
	}
	switch wrong := wrongKind(doc.Meta); {
	case wrong != "":
		m.refuse(doc, wrong)
	case doc.Meta.Kind == v1alpha2.Kind:
		m.stacks = append(m.stacks, decodeStack(doc, namespace))
	case doc.Meta.Kind == "ConfigMap" && doc.Meta.APIVersion == "v1":
		addTo(m, doc, m.configMaps, map[objectKey]bool{}, namespace)
	case doc.Meta.Kind == "Secret" && doc.Meta.APIVersion == "v1":
		addTo(m, doc, m.secrets, m.secretsTwice, namespace)
	case !slices.Contains(m.others, doc.Meta.Kind) && doc.Meta.Kind != "":
		m.others = append(m.others, doc.Meta.Kind)
	}
}

// unread records a document that cannot be read. A folder may contain unrelated files, such as the templates of a
// chart.
func (m *manifests) unread(doc document.Document) {
	if doc.Listed && !bytes.Contains(doc.Source, []byte(v1alpha2.Kind)) {
		m.notes = append(m.notes, doc.File+": skipped because it "+doc.Problem)
		return
	}
	m.refuse(doc, doc.Problem)
}

// refuse records a document as a stack with an error.
func (m *manifests) refuse(doc document.Document, problem string) {
	m.stacks = append(m.stacks, stack{
		file: doc.File, doc: &doc, object: &v1alpha2.LlamaStackDistribution{},
		errs: []string{problem},
	})
}

// wrongKind returns the problem of a kind that looks like a wrong spelling of this command's kind. It returns "" for
// all other kinds.
func wrongKind(meta metav1.TypeMeta) string {
	group, _, _ := strings.Cut(meta.APIVersion, "/")
	near := suggest.Nearest(meta.Kind, []string{v1alpha2.Kind}) != "" || strings.EqualFold(meta.Kind, v1alpha2.Kind)
	switch {
	case meta.Kind == v1alpha2.Kind:
		return ""
	case meta.Kind == "" && group == v1alpha2.GroupVersion.Group:
		return "kind: required; set " + v1alpha2.Kind
	case near || group == v1alpha2.GroupVersion.Group:
		return fmt.Sprintf("kind: %q is not a kind of this operator; use %s", meta.Kind, v1alpha2.Kind)
	default:
		return ""
	}
}

// addTo stores an object that a stack may refer to. Errors do not contain its content, which is never printed.
func addTo[T any, P interface {
	*T
	metav1.Object
}](m *manifests, doc document.Document, into map[objectKey]P, twice map[objectKey]bool, namespace string,
) {
	object := P(new(T))
	if err := json.Unmarshal(doc.Data, object); err != nil {
		m.refuse(doc, fmt.Sprintf("is not a valid %s: its data must be strings; quote numbers and booleans", doc.Meta.Kind))
		return
	}
	key := objectKey{cmp.Or(object.GetNamespace(), namespace), object.GetName()}
	if _, known := into[key]; known {
		twice[key] = true
	}
	into[key] = object
}
