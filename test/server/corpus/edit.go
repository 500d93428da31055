package corpus

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Edit is a change to the spec of a running stack. The base and the state of the stack remain the same. Both specs have
// the providers EditInference and EditVectors, and the embedding model EditEmbedding.
type Edit struct {
	Name          string
	Before, After Case
	// Changes lists the changed parts in words.
	Changes []string
}

// Every stack of an Edit has these resources, so that a client can create a vector store with a file.
const (
	EditInference = "kept"
	EditVectors   = "faiss"
	EditEmbedding = "kept-embedding"
	// EditDimension is the length of the embedding model's vectors.
	EditDimension = 8
)

// Edits returns n random changes. For the same line, seed and n, Edits returns the same changes. The operator may
// reject some of the specs.
func Edits(rel *release.Release, seed uint64, n int) []Edit {
	edits := make([]Edit, 0, n)
	for i := range n {
		r := rand.New(rand.NewPCG(seed, 1<<32+uint64(i))) //nolint:gosec // random numbers for a test, which must be reproducible
		g := &generator{values: values{rand: r}, rel: rel, ids: map[string][]string{}, base: baseProviders(rel, r)}
		e := editor{generator: g, spec: g.editable()}
		name := fmt.Sprintf("edit/%d/%04d", seed, i)
		before := g.caseOf(name+"/before", copied(e.spec))
		e.change()
		edits = append(edits, Edit{Name: name, Before: before, After: g.caseOf(name+"/after", e.spec), Changes: e.changes})
	}
	return edits
}

// caseOf returns a case with this spec and the generator's base.
func (g *generator) caseOf(name string, spec fields) Case {
	m := &maker{rel: g.rel}
	if g.base == nil {
		m.addOwn(name, m.nothing(), spec)
	} else {
		m.add(name, spec)
	}
	return m.cases[0]
}

// editable returns a random spec for a stack that stores its state in files and has the resources that every Edit has.
func (g *generator) editable() fields {
	spec := g.spec()
	for _, section := range []string{"settings", "removeSettings", "networking", "workload"} {
		delete(spec, section) // the sections do not contain registered resources
	}
	spec["storage"] = fields{"kv": fields{}, "sql": fields{}}
	providers, _ := spec["providers"].(fields)
	if providers == nil {
		providers = fields{}
		spec["providers"] = providers
	}
	providers["inference"] = append(named(providers["inference"]), fields{
		"id": EditInference, "provider": "vllm", "endpoint": "http://vllm.example:8000/v1", "apiKey": ref("vllm", "token"),
	})
	providers["vectorIo"] = []any{fields{"id": EditVectors, "provider": "inline::faiss"}}
	delete(providers, "files")
	delete(providers, "fileProcessors")
	if g.base == nil {
		providers["files"] = fields{"provider": "localfs"}
		if _, ok := g.rel.API("file_processors"); ok {
			providers["fileProcessors"] = fields{"provider": "pypdf"}
		}
	}
	if disabled, ok := spec["disabled"].([]any); ok {
		spec["disabled"] = slices.DeleteFunc(disabled, func(item any) bool { return keptByEdits(item.(string)) })
		if len(spec["disabled"].([]any)) == 0 {
			delete(spec, "disabled")
		}
	}
	resources, _ := spec["resources"].(fields)
	if resources == nil {
		resources = fields{}
		spec["resources"] = resources
	}
	models, _ := resources["models"].([]any)
	for i, model := range models {
		models[i] = asModel(model)
	}
	resources["models"] = append(models, fields{
		"name": EditEmbedding, "provider": EditInference, "modelType": "embedding",
		"metadata": fields{"embedding_dimension": EditDimension},
	})
	return spec
}

// keptByEdits reports whether an item of spec.disabled removes a provider that a client's vector store needs.
func keptByEdits(item string) bool {
	api, _, _ := strings.Cut(item, "/")
	return slices.Contains([]string{"vector_io", "files", "file_processors"}, release.SnakeCase(api)) ||
		item == "inference"
}

// named returns a list of providers that all have an ID.
func named(written any) []any {
	switch written := written.(type) {
	case []any:
		return written
	case fields:
		if written["id"] == nil {
			id, _ := written["provider"].(string)
			written["id"] = id[strings.LastIndex(id, ":")+1:]
		}
		return []any{written}
	default:
		return nil
	}
}

// asModel returns a model in its long form.
func asModel(written any) fields {
	if name, ok := written.(string); ok {
		return fields{"name": name, "provider": EditInference}
	}
	model := written.(fields)
	if model["provider"] == nil {
		model["provider"] = EditInference
	}
	return model
}

// editor changes a spec as a user does.
type editor struct {
	*generator
	spec    fields
	changes []string
}

// change makes one to five changes.
func (e *editor) change() {
	kinds := []func() string{
		e.addModel, e.addModel, e.removeModel, e.metadata, e.metadata, e.providerModel, e.modelType, e.moveModel, e.shield,
		e.addProvider, e.removeProvider, e.disable, e.declareListed,
	}
	for range 1 + e.rand.IntN(5) {
		if did := oneOf(&e.values, kinds)(); did != "" {
			e.changes = append(e.changes, did)
		}
	}
	if len(e.changes) == 0 {
		e.changes = append(e.changes, e.addModel())
	}
}

func (e *editor) models() []any { return e.spec["resources"].(fields)["models"].([]any) }

func (e *editor) setModels(models []any) { e.spec["resources"].(fields)["models"] = models }

// model returns a random model, but never the last one, which every Edit has. It returns nil if there is no other
// model.
func (e *editor) model() fields {
	models := e.models()
	if len(models) < 2 {
		return nil
	}
	return models[e.rand.IntN(len(models)-1)].(fields)
}

func (e *editor) addModel() string {
	name := fmt.Sprintf("added-%d", e.rand.IntN(1000))
	e.setModels(append([]any{fields{"name": name, "provider": EditInference}}, e.models()...))
	return "model " + name + " added"
}

func (e *editor) removeModel() string {
	gone := e.model()
	if gone == nil {
		return ""
	}
	e.setModels(slices.DeleteFunc(e.models(), func(m any) bool { return m.(fields)["name"] == gone["name"] }))
	return fmt.Sprintf("model %s removed", gone["name"])
}

func (e *editor) metadata() string {
	model := e.model()
	if model == nil {
		return ""
	}
	model["contextLength"] = 1 + e.rand.IntN(100000)
	return fmt.Sprintf("metadata of model %s", model["name"])
}

func (e *editor) providerModel() string {
	model := e.model()
	if model == nil {
		return ""
	}
	model["providerModelId"] = fmt.Sprintf("vendor/other-%d", e.rand.IntN(1000))
	return fmt.Sprintf("providerModelId of model %s", model["name"])
}

func (e *editor) modelType() string {
	model := e.model()
	if model == nil {
		return ""
	}
	model["modelType"] = oneOf(&e.values, modelTypes(e.rel))
	model["metadata"] = fields{"embedding_dimension": 384}
	return fmt.Sprintf("type of model %s", model["name"])
}

func (e *editor) moveModel() string {
	model := e.model()
	if model == nil {
		return ""
	}
	model["provider"] = EditInference
	return fmt.Sprintf("provider of model %s", model["name"])
}

func (e *editor) shield() string {
	if _, ok := e.rel.Resource("shields"); !ok || !e.serves("safety") {
		return ""
	}
	e.spec["resources"].(fields)["shields"] = []any{fields{
		"name":  "guard",
		"model": fmt.Sprintf("vendor/guard-%d", e.rand.IntN(1000)),
	}}
	return "shield guard"
}

func (e *editor) addProvider() string {
	id := fmt.Sprintf("more-%d", e.rand.IntN(1000))
	providers := e.spec["providers"].(fields)
	providers["inference"] = append([]any{fields{
		"id": id, "provider": "vllm", "endpoint": "http://more.example:8000/v1", "apiKey": ref("vllm", "token"),
	}}, providers["inference"].([]any)...)
	return "provider " + id + " added"
}

// removeProvider removes an inference provider and its models from the spec.
func (e *editor) removeProvider() string {
	providers := e.spec["providers"].(fields)
	inference := providers["inference"].([]any)
	if len(inference) < 2 {
		return ""
	}
	gone := inference[e.rand.IntN(len(inference)-1)].(fields)["id"]
	providers["inference"] = slices.DeleteFunc(inference, func(p any) bool { return p.(fields)["id"] == gone })
	e.setModels(slices.DeleteFunc(e.models(), func(m any) bool { return m.(fields)["provider"] == gone }))
	return fmt.Sprintf("provider %s removed", gone)
}

// disable disables one provider of the base. It does not disable an inference provider, or a provider that a client's
// vector store needs.
func (e *editor) disable() string {
	var choices []any
	for _, p := range e.base {
		if item := p.api + "/" + p.id; !keptByEdits(item) && p.api != "inference" {
			choices = append(choices, item)
		}
	}
	disabled, _ := e.spec["disabled"].([]any)
	if len(choices) == 0 {
		return ""
	}
	item := choices[e.rand.IntN(len(choices))]
	if slices.Contains(disabled, item) {
		return ""
	}
	e.spec["disabled"] = append(slices.Clone(disabled), item)
	return fmt.Sprintf("%s disabled", item)
}

// EditListed is a model that the model server lists. No spec declares it before the change.
const EditListed = "listed"

func (e *editor) declareListed() string {
	if slices.ContainsFunc(e.models(), func(m any) bool { return m.(fields)["name"] == EditListed }) {
		return ""
	}
	e.setModels(append([]any{fields{"name": EditListed, "provider": EditInference, "contextLength": 1000}}, e.models()...))
	return "model " + EditListed + " declared"
}

// copied returns a deep copy of a spec.
func copied(spec fields) fields {
	data, err := json.Marshal(spec)
	var out fields
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("corpus: copy a spec: %v", err)) // an error is a bug in this package
	}
	return out
}
