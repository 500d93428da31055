package plan

import (
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// surroundings adds warnings about pods that do not work with their file systems, proxy or service mesh.
func (p *Plan) surroundings(in Input) {
	server, spec := p.Server(), &in.Object.Spec
	if server == nil {
		return
	}
	p.readOnly(spec, server)
	p.networkFiles(spec)
	p.throughProxy(in, server)
	p.meshed(p.Rendered.Deployment.Spec.Template)
}

// Server returns the server's container in the rendered pod, or nil if the user removed it.
func (p *Plan) Server() *corev1ac.ContainerApplyConfiguration {
	containers := p.Rendered.Deployment.Spec.Template.Spec.Containers
	name := names.ServerContainer(p.input.Stack.Annotations)
	for i := range containers {
		if ptr.Deref(containers[i].Name, "") == name {
			return &containers[i]
		}
	}
	return nil
}

// readOnly warns about a server that cannot write to its home directory.
func (p *Plan) readOnly(spec *v1alpha2.LlamaStackDistributionSpec, server *corev1ac.ContainerApplyConfiguration) {
	security := server.SecurityContext
	if security == nil || !ptr.Deref(security.ReadOnlyRootFilesystem, false) || valueOf(server, names.EnvHome) != "" ||
		storage(spec) {
		return
	}
	p.warn("spec.workload.overrides.podTemplate", "readOnlyRootFilesystem is true, and the server writes to its home "+
		"directory, which is not on a volume: set spec.workload.storage, or set the variable HOME to %s, which is a "+
		"temporary volume", render.MountPath(spec))
}

// networkFiles warns about several processes that write SQLite files on a volume for several nodes. Such a volume is
// usually a network file system, on which the locks of SQLite do not work between processes.
func (p *Plan) networkFiles(spec *v1alpha2.LlamaStackDistributionSpec) {
	workers := render.Workers(spec)
	if workers < 2 || !storage(spec) ||
		!slices.Contains(spec.Workload.Storage.AccessModes, corev1.ReadWriteMany) || len(p.inFiles()) == 0 {
		return
	}
	p.warn("spec.workload.workers", "%d workers write the same SQLite files on a ReadWriteMany volume, and network file "+
		"systems do not support the locks of SQLite: set spec.storage to PostgreSQL, or "+
		"spec.workload.storage.accessModes to [ReadWriteOnce]",
		workers)
}

// throughProxy warns about endpoints in the cluster that the server connects to through a proxy.
func (p *Plan) throughProxy(in Input, server *corev1ac.ContainerApplyConfiguration) {
	direct := strings.FieldsFunc(valueOf(server, "NO_PROXY"), func(r rune) bool { return r == ',' || r == ' ' })
	for i := range in.Intent.Providers {
		provider := &in.Intent.Providers[i]
		endpoint, err := url.Parse(provider.Endpoint)
		if err != nil || endpoint.Hostname() == "" {
			continue
		}
		proxied := valueOf(server, strings.ToUpper(endpoint.Scheme)+"_PROXY") + valueOf(server, "ALL_PROXY")
		host := endpoint.Hostname()
		if proxied == "" || !inCluster(host) || slices.ContainsFunc(direct, func(entry string) bool {
			entry = strings.TrimLeft(entry, "*.")
			return entry == "" || host == entry || strings.HasSuffix(host, "."+entry)
		}) {
			continue
		}
		p.warn(provider.Path.Child("endpoint").String(), "the server connects to %q through the proxy in spec.workload.overrides.env, "+
			"because NO_PROXY does not contain this host; add it, or %q, to NO_PROXY", host, ".svc")
	}
}

// inCluster reports whether a host is the name of a Service.
func inCluster(host string) bool {
	return host != "localhost" && (!strings.ContainsAny(host, ".:") || strings.HasSuffix(host, ".svc") ||
		strings.HasSuffix(host, ".svc.cluster.local"))
}

// valueOf returns the value of a variable, whose name can also have lower case letters.
func valueOf(server *corev1ac.ContainerApplyConfiguration, name string) string {
	for _, env := range server.Env {
		if strings.EqualFold(ptr.Deref(env.Name, ""), name) {
			return ptr.Deref(env.Value, "")
		}
	}
	return ""
}

// meshed warns about an init container that needs the network before the sidecar of a service mesh runs.
func (p *Plan) meshed(template *corev1ac.PodTemplateSpecApplyConfiguration) {
	updates := slices.ContainsFunc(template.Spec.InitContainers, func(c corev1ac.ContainerApplyConfiguration) bool {
		return ptr.Deref(c.Name, "") == names.RegistryContainer
	})
	if !updates || p.input.Registry.Namespace == "" || template.ObjectMetaApplyConfiguration == nil {
		return
	}
	injected := false
	for _, marks := range []map[string]string{template.Labels, template.Annotations} {
		injected = injected || marks["sidecar.istio.io/inject"] == "true" || marks["linkerd.io/inject"] == "enabled"
	}
	if injected {
		p.warn("spec.storage", "the init container %s connects to the database before the sidecar of the service mesh runs, "+
			"unless the mesh uses native sidecars: enable them, or exclude the port of the database from the mesh with an annotation",
			names.RegistryContainer)
	}
}
