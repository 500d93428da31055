package node

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"text/template"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/cgroup"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

//go:embed config manifests
var templates embed.FS

// socket is the path of containerd's socket. It is on a file system of the node.
const socket = "/run/containerd/containerd.sock"

// settings are the values for the templates of settings and manifests.
type settings struct {
	// Folder is the node's directory in the state directory. PKI and Logs are other directories in the state directory.
	Folder, PKI, Logs string
	// Name and Address are the name and the address of the node. Pods is the address range of pods. DNS and Registry are
	// the addresses of the cluster's name server and registry.
	Name, Address, Pods, DNS, Registry string
	// Socket is the path of containerd's socket. Plugins is the directory of the network plugins.
	Socket, Plugins string
	// CGroup is the parent of the pods' control groups.
	CGroup string
	// Unified reports whether the machine uses version 2 of control groups.
	Unified bool
}

func newSettings(folder *state.Folder, plan network.Plan) settings {
	return settings{
		Folder: nodeFolder(folder), PKI: folder.Path("pki"), Logs: folder.Path("log"),
		Name: network.NodeName, Address: plan.Node().String(), Pods: plan.Pods().String(), DNS: plan.DNS().String(),
		Registry: plan.Registry(),
		Socket:   socket, Plugins: cniFolder,
		CGroup: cgroup.Of(folder.Path()).Name, Unified: cgroup.Unified(),
	}
}

// nodeFolder returns the directory to which the node's programs write.
func nodeFolder(folder *state.Folder) string { return folder.Path("node") }

// place returns the path of a settings file below the node's directory.
func (s settings) place(name string) string {
	switch name {
	case "10-cluster.conflist":
		return filepath.Join(s.Folder, "cni", name)
	case "hosts.toml":
		return filepath.Join(s.Folder, "certs.d", s.Registry, name)
	default:
		return filepath.Join(s.Folder, name)
	}
}

// write writes the settings files of the node's programs.
func (s settings) write() error {
	entries, err := fs.ReadDir(templates, "config")
	if err != nil {
		return fmt.Errorf("listing the node's settings: %w", err)
	}
	for _, entry := range entries {
		data, err := s.fill(path.Join("config", entry.Name()))
		if err != nil {
			return err
		}
		file := s.place(entry.Name())
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("writing the node's settings: %w", err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return fmt.Errorf("writing the node's settings: %w", err)
		}
	}
	return nil
}

// manifests returns the cluster's own objects as one YAML stream.
func (s settings) manifests() ([]byte, error) {
	entries, err := fs.ReadDir(templates, "manifests")
	if err != nil {
		return nil, fmt.Errorf("listing the cluster's manifests: %w", err)
	}
	var all [][]byte
	for _, entry := range entries {
		data, err := s.fill(path.Join("manifests", entry.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return bytes.Join(all, []byte("---\n")), nil
}

// fill executes one template.
func (s settings) fill(name string) ([]byte, error) {
	parsed, err := template.New(path.Base(name)).Option("missingkey=error").ParseFS(templates, name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, s); err != nil {
		return nil, fmt.Errorf("filling in %s: %w", name, err)
	}
	return out.Bytes(), nil
}
