package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
)

// unshared warns of several replicas that do not share what clients store: each request would be answered by what one of
// them has.
func (p *Plan) unshared(spec *v1alpha2.LlamaStackDistributionSpec) []stackconfig.Finding {
	replicas, path := render.Replicas(spec), "spec.workload.replicas"
	if render.Autoscaled(spec) {
		replicas, path = spec.Workload.Autoscaling.MaxReplicas, "spec.workload.autoscaling.maxReplicas"
	}
	if replicas < 2 {
		return nil
	}
	var findings []stackconfig.Finding
	if kept := p.inFiles(); len(kept) > 0 {
		what := "do not share what is in files"
		if spec.Workload.Storage != nil && !render.ExclusiveVolume(spec) {
			what = "write the same files, which are made for one pod"
		}
		findings = append(findings, stackconfig.Finding{Path: path, Message: fmt.Sprintf(
			"%d replicas %s: %s; set spec.storage to PostgreSQL or Redis, and for vectorIo and files take providers that keep their data on a server",
			replicas, what, strings.Join(kept, ", "))})
	}
	if render.ExclusiveVolume(spec) {
		findings = append(findings, stackconfig.Finding{Path: path, Message: fmt.Sprintf(
			"%d replicas have one volume that pods of a single node can mount: the others may never start; "+
				"set spec.workload.storage.accessModes to [ReadWriteMany], or remove spec.workload.storage and keep the data on servers", replicas)})
	}
	return findings
}

// inFiles are the names of what the server keeps in files, sorted.
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
