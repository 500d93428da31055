package dryrun

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/ogxserver"
)

// DefaultNamespace is the namespace of objects without metadata.namespace.
const DefaultNamespace = "default"

// Manifests contains the objects from files, if the pipeline uses their kind. Add skips objects of other kinds, so a
// folder can contain such objects.
type Manifests struct {
	Stacks     []Stack
	ConfigMaps map[Key]*corev1.ConfigMap
	Secrets    map[Key]*corev1.Secret
	// Namespaces contains the known namespaces, by name, for their labels.
	Namespaces map[string]*corev1.Namespace
	// SecretsTwice contains the Secrets that occur more than once in the files. Their values are not known.
	SecretsTwice map[Key]bool
	// Now is the time at which certificates must be valid. The zero value leaves out this check.
	Now time.Time
	// Others lists the first skipped kinds. Notes lists messages about files that cannot be read.
	Others, Notes []string
	// Config is the configuration from the operator's ConfigMap.
	Config operatorconfig.Config
	// Platform is what is known of the cluster. The zero value stands for an unknown cluster, which is not OpenShift.
	Platform facts.Platform
	// HostOwner is another stack in the cluster that owns the host name of the stack. Nil means that there is none, or
	// that this is not known.
	HostOwner *hostname.Owner
	// Live reports whether the objects come from a cluster and not from files.
	Live bool
	// Pasted reports whether the objects come from text that is not in a file. If Pasted is true, remedies do not name
	// flags.
	Pasted bool
	// files contains the file of the last stack with a name.
	files map[Key]string
	// Denied contains the ConfigMaps in the cluster that the caller cannot read.
	Denied map[Key]bool
	// Definition checks the document of a stack as an API server does. Nil means that this check is left out.
	Definition func(object map[string]any, namespace string) (field.ErrorList, error)
	// Image contains what the user set about the images that stacks specify, because this package does not read images.
	Image Image
	// NotesUnknown reports whether a stack with an unknown base configuration, and a Secret that is not in the files,
	// cause only a note. The Outcome of the stack has then no plan.
	NotesUnknown bool
	// running contains the facts about the running stack.
	running facts.Running
}

// Stack is a LlamaStackDistribution and the file that contains it.
type Stack struct {
	// File is the path of the file, or document.StandardInput.
	File string
	// doc is the text of the stack, for the positions of findings. Nil means that the stack is not from a manifest.
	doc *document.Document
	// Object contains the values of the document that fit their fields.
	Object *v1alpha2.LlamaStackDistribution
	// Decoded reports whether the document could be decoded. It is also true for a v1alpha2 document with an incorrect
	// group, a misspelled field or a value of the wrong type, so that one run reports all mistakes.
	Decoded bool
	// Large reports whether the spec is too large to be decoded.
	Large bool
	// Older reports whether the document has the version v1alpha1. Object always has the version v1alpha2.
	Older bool
	// unfit lists the paths of values that do not fit their fields. Object does not contain these values.
	unfit []string
	// Errors lists the decoding errors. warnings lists fields without effect. dropped lists unknown fields of v1alpha1.
	Errors, warnings, dropped []string
}

// stored reports whether the stack is from a cluster, which accepts it, and not from a manifest.
func (s *Stack) stored() bool { return s.doc == nil }

// Named returns a message with the field names of the manifest's API version.
func (s Stack) Named(message string) string {
	if s.Older {
		return convert.OlderPaths(message)
	}
	return message
}

// Key is the namespace and the name of an object.
type Key struct{ Namespace, Name string }

// KeyOf returns the key of the ConfigMap that a stack in a namespace refers to.
func KeyOf(use intent.ConfigMapUse, namespace string) Key {
	return Key{Namespace: cmp.Or(use.Namespace, namespace), Name: use.Name}
}

// Gather returns the objects in documents.
func Gather(documents []document.Document, namespace string) *Manifests {
	found := &Manifests{
		ConfigMaps: make(map[Key]*corev1.ConfigMap),
		Namespaces: make(map[string]*corev1.Namespace),
		Secrets:    make(map[Key]*corev1.Secret), SecretsTwice: make(map[Key]bool),
		files: make(map[Key]string),
	}
	for _, doc := range documents {
		found.Add(doc, namespace)
	}
	return found
}

// Nothing returns the message about files without a stack.
func (m *Manifests) Nothing(paths ...string) string {
	problem := fmt.Sprintf("no %s in %s", v1alpha2.Kind, document.Names(paths))
	if len(m.Others) > 0 {
		problem += "; found only " + strings.Join(m.Others, ", ")
	}
	if slices.Contains(m.Others, ogxserver.Kind) {
		problem += "; to convert an " + ogxserver.Kind + " to a stack, use kubectl llamastack convert"
	}
	return problem
}

// Add adds the object in a document. It adds a document with a problem as a stack with an error.
func (m *Manifests) Add(doc document.Document, namespace string) {
	if doc.Data == nil {
		m.unread(doc)
		return
	}
	switch wrong := WrongKind(doc.Meta); {
	case wrong != "":
		m.refuse(doc, wrong)
	case doc.Meta.Kind == v1alpha2.Kind:
		m.addStack(DecodeStack(doc, namespace))
	case doc.Meta.Kind == "ConfigMap" && doc.Meta.APIVersion == "v1":
		addTo(m, doc, m.ConfigMaps, map[Key]bool{}, namespace)
	case doc.Meta.Kind == "Secret" && doc.Meta.APIVersion == "v1":
		addTo(m, doc, m.Secrets, m.SecretsTwice, namespace)
	case doc.Meta.Kind == "Namespace" && doc.Meta.APIVersion == "v1":
		m.addNamespace(doc)
	case doc.Meta.Kind != "":
		m.Others = WithKind(m.Others, doc.Meta.Kind)
	}
}

// addStack adds a stack. It warns about an earlier stack with the same name, because kubectl apply writes both, one
// after the other.
func (m *Manifests) addStack(s Stack) {
	key := Key{Namespace: s.Object.Namespace, Name: s.Object.Name}
	if file, twice := m.files[key]; twice {
		s.warnings = append(s.warnings, fmt.Sprintf("metadata.name: %q: %s contains another stack with this name in namespace %q, and kubectl apply replaces it with this one; rename or remove one of the two",
			key.Name, file, key.Namespace))
	}
	if key.Name != "" && m.files != nil {
		m.files[key] = s.File
	}
	m.Stacks = append(m.Stacks, s)
}

// maxKinds is the maximum number of kinds that a message names.
const maxKinds = 20

// WithKind adds a kind to a list for a message, unless the list contains the kind or is full.
func WithKind(kinds []string, kind string) []string {
	if (len(kinds) >= maxKinds && kind != ogxserver.Kind) || slices.Contains(kinds, kind) {
		return kinds
	}
	return append(kinds, kind)
}

// unread records a document that cannot be read. In a folder, a file that does not mention a stack causes only a note,
// because a folder may contain other files, for example the templates of a chart.
func (m *Manifests) unread(doc document.Document) {
	if doc.Listed && !bytes.Contains(doc.Source, []byte(v1alpha2.Kind)) {
		m.Notes = append(m.Notes, doc.File+": skipped because it "+doc.Problem)
		return
	}
	m.refuse(doc, doc.Problem)
}

// refuse adds a document as a stack with an error.
func (m *Manifests) refuse(doc document.Document, problem string) {
	m.Stacks = append(m.Stacks, Stack{
		File: doc.File, doc: &doc, Object: &v1alpha2.LlamaStackDistribution{},
		Errors: []string{problem},
	})
}

// With returns a copy of m with the facts about a running stack, for a plan of the stack's spec or of an edited spec.
// The plan then uses the image, the base configuration and the records about the running pods that the operator uses.
// Nil means that no facts are known.
func (m *Manifests) With(r *facts.Running) *Manifests {
	changed := *m
	if changed.running = (facts.Running{}); r != nil {
		changed.running = *r
	}
	return &changed
}

// WrongKind returns the problem with a kind that is a misspelling of LlamaStackDistribution, or with a missing or
// different kind in the API group of LlamaStackDistribution. It returns "" if there is no problem.
func WrongKind(meta metav1.TypeMeta) string {
	group, _, _ := strings.Cut(meta.APIVersion, "/")
	near := suggest.Nearest(meta.Kind, []string{v1alpha2.Kind}) != "" || strings.EqualFold(meta.Kind, v1alpha2.Kind)
	switch {
	case meta.Kind == v1alpha2.Kind:
		return ""
	case meta.Kind == "" && group == v1alpha2.GroupVersion.Group:
		return "kind: required; set " + v1alpha2.Kind
	case near || group == v1alpha2.GroupVersion.Group:
		return fmt.Sprintf("kind: %q is not a kind that this operator manages; use %s", meta.Kind, v1alpha2.Kind)
	default:
		return ""
	}
}

// DataProblem returns the message for a ConfigMap or Secret that cannot be decoded. The message does not contain the
// content, which may be secret.
func DataProblem(kind string, err error) string {
	if _, corrupt := errors.AsType[base64.CorruptInputError](err); corrupt {
		encoded, plain := "data", "stringData"
		if kind == "ConfigMap" {
			encoded, plain = "binaryData", "data"
		}
		return fmt.Sprintf("is not a valid %s: a value in %s is not base64; put plain text into %s", kind, encoded, plain)
	}
	return fmt.Sprintf("is not a valid %s: the values of its data, labels and annotations must be strings; "+
		"quote numbers and booleans", kind)
}

// addTo adds an object that a stack may refer to. Errors do not contain its content, which may be secret.
func addTo[T any, P interface {
	*T
	metav1.Object
}](m *Manifests, doc document.Document, into map[Key]P, twice map[Key]bool, namespace string,
) {
	object := P(new(T))
	if err := typecheck.Unmarshal(doc.Data, object); err != nil {
		m.refuse(doc, DataProblem(doc.Meta.Kind, err))
		return
	}
	key := Key{Namespace: cmp.Or(object.GetNamespace(), namespace), Name: object.GetName()}
	if _, known := into[key]; known {
		twice[key] = true
	}
	into[key] = object
}

func (m *Manifests) addNamespace(doc document.Document) {
	object := &corev1.Namespace{}
	if err := typecheck.Unmarshal(doc.Data, object); err != nil {
		m.refuse(doc, DataProblem(doc.Meta.Kind, err))
		return
	}
	m.Namespaces[object.Name] = object
}

// bounds returns the bounds of a namespace. It returns false if they depend on labels that are not known. The result is
// then the rule for a namespace without labels.
func (m *Manifests) bounds(namespace string) (rule *bounds.Rule, known bool) {
	object := m.Namespaces[namespace]
	if object == nil {
		return m.Config.Bounds.For(namespace, nil), !m.Config.Bounds.NeedLabels(namespace)
	}
	return m.Config.Bounds.For(namespace, object.Labels), true
}

// Title returns the file and the name of a stack, or only the file of a stack without a name.
func (s Stack) Title() string {
	if s.Object.Name == "" {
		return s.File
	}
	return s.File + ": " + s.Object.Name
}
