package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/ogxserver"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/suggest"
)

// defaultNamespace is where an object without a namespace is taken to live.
const defaultNamespace = "default"

// manifests are the objects of all files that the pipeline can use. Documents
// of other kinds are passed over, so that whole folders can be given.
type manifests struct {
	stacks     []stack
	configMaps map[objectKey]*corev1.ConfigMap
	secrets    map[objectKey]*corev1.Secret
	// secretsTwice are the Secrets that several files have: nobody knows which one a stack means.
	secretsTwice map[objectKey]bool
	// others are the kinds that were passed over, notes what is said of files that could not be read.
	others, notes []string
	// config is the operator's ConfigMap.
	config operatorconfig.Config
	// live reports that the objects are those of a cluster, and of no file.
	live bool
}

// stack is one LlamaStackDistribution and the file it came from.
type stack struct {
	file   string
	object *v1alpha2.LlamaStackDistribution
	// decoded reports whether object holds what could be read. A document with a wrong
	// group, a misspelt field or a value of the wrong type is decoded too, so that
	// all its mistakes are found at once.
	decoded bool
	// older reports whether the document is of v1alpha1; object is what it is stored as.
	older bool
	// unfit are the paths of values that were left out, because their fields do not take them.
	unfit []string
	// errs are the mistakes found in decoding, warnings what has no effect.
	errs, warnings []string
}

type objectKey struct{ namespace, name string }

// readManifests reads every document of the named files, folders (their *.yaml,
// *.yml and *.json) and, for "-", of stdin.
func readManifests(paths []string, namespace string, stdin io.Reader) (*manifests, error) {
	found := &manifests{
		configMaps: make(map[objectKey]*corev1.ConfigMap),
		secrets:    make(map[objectKey]*corev1.Secret), secretsTwice: make(map[objectKey]bool),
	}
	for _, path := range paths {
		documents, err := document.Read(path, stdin)
		if err != nil {
			return nil, err
		}
		for _, doc := range documents {
			found.add(doc, namespace)
		}
	}
	if len(found.stacks) == 0 {
		return nil, found.nothing(paths)
	}
	return found, nil
}

// nothing is the answer to files without a stack.
func (m *manifests) nothing(paths []string) error {
	problem := fmt.Sprintf("no %s in %s", v1alpha2.Kind, strings.Join(paths, ", "))
	if len(m.others) > 0 {
		problem += "; it holds " + strings.Join(m.others, ", ")
	}
	if slices.Contains(m.others, ogxserver.Kind) {
		problem += "; kubectl llamastack convert makes a stack of an " + ogxserver.Kind
	}
	return &rejection{problems: append(slices.Clone(m.notes), problem), summary: "nothing to read"}
}

// add sorts one document in. What is wrong with it is said of the document, and the others are read all the same.
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

// unread notes a document that cannot be read. A folder may hold what is not for this command, the templates of a chart
// above all.
func (m *manifests) unread(doc document.Document) {
	if doc.Listed && !bytes.Contains(doc.Source, []byte(v1alpha2.Kind)) {
		m.notes = append(m.notes, doc.File+": is passed over: it "+doc.Problem)
		return
	}
	m.refuse(doc, doc.Problem)
}

// refuse counts a document as a stack with an error.
func (m *manifests) refuse(doc document.Document, problem string) {
	m.stacks = append(m.stacks, stack{file: doc.File, object: &v1alpha2.LlamaStackDistribution{}, errs: []string{problem}})
}

// wrongKind says what is wrong with a kind that is meant for this command and is not its own; empty for all others.
func wrongKind(meta metav1.TypeMeta) string {
	group, _, _ := strings.Cut(meta.APIVersion, "/")
	near := suggest.Nearest(meta.Kind, []string{v1alpha2.Kind}) != "" || strings.EqualFold(meta.Kind, v1alpha2.Kind)
	switch {
	case meta.Kind == v1alpha2.Kind:
		return ""
	case meta.Kind == "" && group == v1alpha2.GroupVersion.Group:
		return "kind: required: write " + v1alpha2.Kind
	case near || group == v1alpha2.GroupVersion.Group:
		return fmt.Sprintf("kind: %q is not a kind of this operator; write %s", meta.Kind, v1alpha2.Kind)
	default:
		return ""
	}
}

// addTo keeps an object that a stack may refer to. Its content is never printed, so errors tell nothing of it.
func addTo[T any, P interface {
	*T
	metav1.Object
}](m *manifests, doc document.Document, into map[objectKey]P, twice map[objectKey]bool, namespace string,
) {
	object := P(new(T))
	if err := json.Unmarshal(doc.Data, object); err != nil {
		m.refuse(doc, fmt.Sprintf("is no %s: its data must be text; quote numbers and booleans", doc.Meta.Kind))
		return
	}
	key := objectKey{cmp.Or(object.GetNamespace(), namespace), object.GetName()}
	if _, known := into[key]; known {
		twice[key] = true
	}
	into[key] = object
}
