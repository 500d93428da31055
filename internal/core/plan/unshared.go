package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// vectorIO is the API for vector stores.
const vectorIO = "vector_io"

// unshared adds warnings if there are several replicas and they do not share clients' data.
func (p *Plan) unshared(spec *v1alpha2.LlamaStackDistributionSpec) {
	replicas, path := render.Replicas(spec), "spec.workload.replicas"
	if render.Autoscaled(spec) {
		replicas, path = spec.Workload.Autoscaling.MaxReplicas, "spec.workload.autoscaling.maxReplicas"
	}
	if replicas < 2 {
		return
	}
	warn := func(format string, args ...any) {
		p.warn(path, "%d replicas %s", replicas, fmt.Sprintf(format, args...))
	}
	inFiles := p.inFiles()
	inMemory := slices.DeleteFunc(p.inMemory(), func(name string) bool { return slices.Contains(inFiles, name) })
	if len(inFiles) > 0 {
		what := "do not share data that is in files"
		if spec.Workload.Storage != nil && !render.ExclusiveVolume(spec) {
			what = "write the same files, which several pods cannot share"
		}
		warn("%s: %s; set spec.storage to PostgreSQL or Redis, and for vectorIo and files, use providers that keep their data on a server",
			what, strings.Join(inFiles, ", "))
	}
	if len(inMemory) > 0 {
		warn("do not share the data that each pod keeps in memory: %s; use a vectorIo provider that keeps its data on a server, such as pgvector", strings.Join(inMemory, ", "))
	}
	if len(inFiles)+len(inMemory) == 0 {
		p.unlisted(warn)
	}
	if render.ExclusiveVolume(spec) {
		warn("share one volume that only pods on the same node can mount, so pods on other nodes might never start; " +
			"set spec.workload.storage.accessModes to [ReadWriteMany], or remove spec.workload.storage and keep the data on servers")
	}
}

// inFiles returns the names of the data that the server stores in files, sorted.
func (p *Plan) inFiles() []string {
	var kept []string
	for _, name := range slices.Sorted(maps.Keys(p.Places.Data)) {
		for _, place := range p.Places.Data[name].In {
			inFile := place.File != "" || strings.HasSuffix(p.Places.Stores[place.Store].Type, "sqlite")
			if inFile && !slices.Contains(kept, name) {
				kept = append(kept, name)
			}
		}
	}
	return kept
}

// inMemory returns the providers whose data is in the memory of each pod, sorted.
func (p *Plan) inMemory() []string {
	match, err := release.Lookup(p.Places.Release)
	if err != nil {
		return nil // the release is unknown
	}
	var held []string
	for _, name := range slices.Sorted(maps.Keys(p.Places.Data)) {
		api, _, _ := strings.Cut(name, "/")
		if kind, ok := match.Release.Provider(api, p.Places.Data[name].Type); ok && kind.InMemory {
			held = append(held, name)
		}
	}
	return held
}

// unlisted adds a warning if a pod cannot find the vector stores that other pods create.
func (p *Plan) unlisted(warn func(format string, args ...any)) {
	match, err := release.Lookup(p.Places.Release)
	if err != nil || yamlnode.Len(yamlnode.At(p.root(), "providers", vectorIO)) == 0 {
		return
	}
	const each = "do not share their lists of vector stores, so a replica does not find the vector stores that other replicas created after this replica started; "
	store, ok := match.Release.Storage.Lists(vectorIO)
	if !ok {
		warn(each+"use release %s or later and set spec.settings.storage.stores.vector_stores, or disable vectorIo", release.FirstLineThatLists(vectorIO))
		return
	}
	if yamlnode.IsNull(yamlnode.At(p.root(), strings.Split(store.Path, ".")...)) {
		warn(each+"set spec.settings.%s to {table_name: %s}", store.Path, store.Name)
	}
}
