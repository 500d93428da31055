package binaries

// Program is one executable of a control plane.
type Program struct {
	// Name is the file's name in the cache, as envtest and users expect it.
	Name string
	// Package is the import path of its main package.
	Package string
}

// Programs lists what is built, in build order. The small ones come first:
// each `go build` warms the cache for the next one, and the first lines of
// progress appear early.
func Programs() []Program {
	const kubernetes = "k8s.io/kubernetes/cmd/"
	return []Program{
		{Name: "etcd", Package: "go.etcd.io/etcd/server/v3"},
		{Name: "kubectl", Package: kubernetes + "kubectl"},
		{Name: "kube-apiserver", Package: kubernetes + "kube-apiserver"},
		{Name: "kube-controller-manager", Package: kubernetes + "kube-controller-manager"},
		{Name: "kube-scheduler", Package: kubernetes + "kube-scheduler"},
	}
}

// packages are the import paths of all programs.
func packages() []string {
	var paths []string
	for _, program := range Programs() {
		paths = append(paths, program.Package)
	}
	return paths
}
