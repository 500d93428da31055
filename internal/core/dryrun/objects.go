package dryrun

import (
	"bytes"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// Object is the YAML of an object that the operator would apply.
type Object struct {
	Kind, Name string
	Text       []byte
}

// Objects returns the objects of a plan as YAML, without a document separator.
func Objects(built *plan.Plan) ([]Object, error) { return new(Printer).Objects(built) }

// Printer prints the objects of plans as YAML. If an object is the same as in the previous round, the printer reuses
// its text: most objects do not change while a user edits a manifest, and their texts are long. The zero value is ready
// to use.
type Printer struct {
	previous, current map[objectID]printed
}

// objectID identifies an object among all objects of a round.
type objectID struct{ kind, namespace, name string }

// printed is an object and its text.
type printed struct {
	content map[string]any
	text    []byte
}

// NextRound ends the current round and starts the next one. The printer discards the objects that the current round did
// not print.
func (p *Printer) NextRound() { p.previous, p.current = p.current, nil }

// Objects returns the objects of a plan as YAML, without a document separator.
func (p *Printer) Objects(built *plan.Plan) ([]Object, error) {
	return p.objects(built, func(*unstructured.Unstructured) string { return "" })
}

// ShortObjects returns the objects of a plan as Objects does, for people. It leaves out the base and the operator's
// programs, which are long and not specific to the stack, and the operator's record. Comments list what is left out.
func (s Stack) ShortObjects(built *plan.Plan) ([]Object, error) {
	return new(Printer).objects(built, func(content *unstructured.Unstructured) string {
		data, _ := content.Object["data"].(map[string]any)
		switch {
		case content.GetKind() != "ConfigMap":
		case content.GetName() == names.Startup(s.Object.Name):
			delete(content.Object, "data")
			return "# Left out: the data, which is the operator's programs that run before the server.\n"
		case data[names.BaseFile] != nil:
			delete(data, names.BaseFile)
			return "# Left out: the key " + names.BaseFile + ", which is the configuration of the distribution.\n"
		}
		annotations := content.GetAnnotations()
		if annotations[names.AnnotationRendered] == "" {
			return ""
		}
		delete(annotations, names.AnnotationRendered)
		content.SetAnnotations(annotations)
		return "# Left out: the annotation " + names.AnnotationRendered + ", which is the operator's record.\n"
	})
}

// objects prints the objects of a plan. The function `omit` shortens an object, and returns a comment about it.
func (p *Printer) objects(built *plan.Plan, omit func(*unstructured.Unstructured) string) ([]Object, error) {
	objects := built.AllObjects()
	texts := make([]Object, 0, len(objects))
	for _, object := range objects {
		content, err := render.Unstructured(object)
		if err != nil {
			return nil, err
		}
		omitted := omit(content)
		id := objectID{kind: object.GVK.Kind, namespace: content.GetNamespace(), name: object.Name}
		data, err := p.print(id, content.Object)
		if err != nil {
			return nil, fmt.Errorf("print %s %q: %w", object.GVK.Kind, object.Name, err)
		}
		var page bytes.Buffer
		page.WriteString(omitted)
		if object.GVK.Kind == "Secret" {
			commentDerived(&page, built.Derived)
		}
		page.Write(data)
		texts = append(texts, Object{Kind: object.GVK.Kind, Name: object.Name, Text: page.Bytes()})
	}
	return texts, nil
}

// print returns the YAML of an object.
func (p *Printer) print(id objectID, content map[string]any) ([]byte, error) {
	one, found := p.previous[id]
	if !found || !reflect.DeepEqual(one.content, content) {
		text, err := yaml.Marshal(content) // this is faster than a conversion through JSON
		if err != nil {
			return nil, err
		}
		one = printed{content: content, text: text}
	}
	if p.current == nil {
		p.current = map[objectID]printed{}
	}
	p.current[id] = one
	return one.text, nil
}

// commentDerived writes a comment with the source of each empty value.
func commentDerived(page *bytes.Buffer, derived []secretvalue.Derived) {
	page.WriteString("# The values are empty here. The operator reads them from:\n")
	for _, value := range derived {
		fmt.Fprintf(page, "#   %s: Secret %q, key %q (%s)\n", value.Key, value.Secret, value.SecretKey, value.FieldPath)
	}
}

// Config returns the configuration of a plan. If the operator generates no configuration, Config returns a comment that
// names the source of the configuration.
func (s Stack) Config(built *plan.Plan) []byte {
	source := "the configuration of its image"
	switch {
	case len(built.Config) > 0:
		return built.Config
	case built.ConfigMapName != "":
		source = fmt.Sprintf("ConfigMap %q", built.ConfigMapName)
	}
	return fmt.Appendf(nil, "# %s: the server uses %s unchanged; the operator generates no configuration.\n",
		s.Object.Name, source)
}

// Explain returns every key of the configuration with its source.
func (s Stack) Explain(built *plan.Plan) []stackconfig.Explained {
	values := []stackconfig.Explained{}
	if built.Report != nil {
		values = built.Report.Explain()
	}
	for i := range values {
		if s.Older {
			values[i].Origin = convert.OlderPaths(values[i].Origin)
		}
	}
	return values
}
