package binaries

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/line"
)

// Set is a group of programs that are built from one module and stored in one directory of the cache.
type Set struct {
	// Title is the name in readable form, such as "Kubernetes v1.37.2".
	Title string
	// Version is the start of the directory's name.
	Version string
	// Module is the absolute path of the module that pins the programs.
	Module string
	// Tags and LinkerFlags are passed to the compiler and the linker.
	Tags, LinkerFlags string
	// Programs are the executables. One command builds all of them.
	Programs []Program
	// Needs limits the programs that are downloaded or built to those with these names. If it is empty, all are needed.
	Needs []string
	// Takes is the duration of a build on two cores, as text for the progress output.
	Takes string
	// Release lists the release files that contain the programs for an operating system and an architecture. It is nil for
	// programs that are always built.
	Release func(source Source, os, arch string) []File
}

const kubernetes = "k8s.io/kubernetes/cmd/"

// strip removes debug data.
const strip = "-s -w"

// ControlPlane returns the programs that run without a node, including kubectl.
func ControlPlane(l line.Line) Set {
	return Set{
		Title: "Kubernetes " + l.Version, Version: l.Version, Module: l.Module, LinkerFlags: versionFlags(l),
		Takes: "6 to 16 minutes",
		Release: func(source Source, os, arch string) []File {
			if l.Etcd == "" {
				return nil
			}
			return append([]File{source.etcd(l.Etcd, os, arch)}, source.kubernetes(l.Version, os, arch,
				"kubectl", "kube-apiserver", "kube-controller-manager", "kube-scheduler")...)
		},
		Programs: []Program{
			{Name: "etcd", Package: "go.etcd.io/etcd/server/v3"},
			{Name: "kubectl", Package: kubernetes + "kubectl"},
			{Name: "kube-apiserver", Package: kubernetes + "kube-apiserver"},
			{Name: "kube-controller-manager", Package: kubernetes + "kube-controller-manager"},
			{Name: "kube-scheduler", Package: kubernetes + "kube-scheduler"},
		},
	}
}

// Node returns the additional sets that a node needs. Only the first set depends on the Kubernetes line.
func Node(l line.Line) []Set {
	components := filepath.Dir(l.Module)
	const own = "github.com/llamastack/llama-stack-k8s-operator/test/cluster/components/"
	return []Set{
		{
			Title: "the Kubernetes " + l.Version + " node programs", Version: "node-" + l.Version, Module: l.Module,
			LinkerFlags: versionFlags(l),
			Takes:       "2 to 6 minutes",
			Release: func(source Source, os, arch string) []File {
				return source.kubernetes(l.Version, os, arch, "kubelet", "kube-proxy")
			},
			Programs: []Program{
				{Name: "kubelet", Package: kubernetes + "kubelet"},
				{Name: "kube-proxy", Package: kubernetes + "kube-proxy"},
			},
		},
		containerd(filepath.Join(components, "containerd")),
		{
			Title: "CoreDNS", Version: "coredns", Module: filepath.Join(components, "coredns"), LinkerFlags: strip,
			Takes:    "1 to 3 minutes",
			Programs: []Program{{Name: "coredns", Package: own + "coredns"}},
		},
		{
			Title: "metrics-server", Version: "metrics-server", Module: filepath.Join(components, "metrics-server"),
			LinkerFlags: strip,
			Takes:       "1 to 3 minutes",
			Programs:    []Program{{Name: "metrics-server", Package: "sigs.k8s.io/metrics-server/cmd/metrics-server"}},
		},
		{
			Title: "the node's small programs", Version: "agents", Module: filepath.Join(components, "agents"),
			LinkerFlags: strip,
			Takes:       "about a minute",
			Programs: []Program{
				{Name: "pause", Package: own + "agents/pause"},
				{Name: "prober", Package: own + "agents/prober"},
				{Name: "provisioner", Package: own + "agents/provisioner"},
				{Name: "networkpolicy", Package: own + "agents/networkpolicy"},
			},
		},
	}
}

// containerd returns the set for containerd without the storage drivers that need kernel headers.
func containerd(module string) Set {
	const commands = "github.com/containerd/containerd/v2/cmd/"
	return Set{
		Title: "containerd", Version: "containerd", Module: module,
		Tags: "no_btrfs,no_devmapper,no_zfs", LinkerFlags: strip,
		Takes: "1 to 3 minutes",
		Programs: []Program{
			{Name: "containerd", Package: commands + "containerd"},
			{Name: "containerd-shim-runc-v2", Package: commands + "containerd-shim-runc-v2"},
			{Name: "ctr", Package: commands + "ctr"},
		},
	}
}

// versionFlags returns flags that strip debug data and set the version. kubectl and other clients reject an API server
// that does not report its version.
func versionFlags(l line.Line) string {
	const version = "k8s.io/component-base/version."
	major, minor := l.MajorMinor()
	return strings.Join([]string{
		strip,
		"-X", version + "gitVersion=" + l.Version,
		"-X", version + "gitMajor=" + major,
		"-X", version + "gitMinor=" + minor,
		"-X", version + "gitTreeState=clean",
	}, " ")
}

// needed returns the programs that are needed.
func (s Set) needed() []Program {
	var programs []Program
	for _, program := range s.Programs {
		if len(s.Needs) == 0 || slices.Contains(s.Needs, program.Name) {
			programs = append(programs, program)
		}
	}
	return programs
}

// packages returns the import paths of programs.
func packages(programs []Program) []string {
	var paths []string
	for _, program := range programs {
		paths = append(paths, program.Package)
	}
	return paths
}

// names returns the names of programs as text.
func names(programs []Program) string {
	var all []string
	for _, program := range programs {
		all = append(all, program.Name)
	}
	return strings.Join(all, ", ")
}
