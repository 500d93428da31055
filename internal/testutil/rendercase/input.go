package rendercase

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// fixture is the file format of render.Input.
type fixture struct {
	Stack  *v1alpha2.LlamaStackDistribution `json:"stack"`
	Image  string                           `json:"image"`
	Server render.Server                    `json:"server"`
	Config *struct {
		ConfigMapName string  `json:"configMapName"`
		Key           string  `json:"key"`
		Hash          string  `json:"hash"`
		Data          *string `json:"data"`
		Whole         bool    `json:"whole"`
	} `json:"config"`
	Base *struct {
		ConfigMapName string `json:"configMapName"`
		Data          string `json:"data"`
		Binary        []byte `json:"binary"`
	} `json:"base"`
	Paths       []render.EnvVar `json:"paths"`
	Secrets     []render.EnvVar `json:"secrets"`
	Offline     []render.EnvVar `json:"offline"`
	Directories []string        `json:"directories"`
	Inputs      string          `json:"inputs"`
	OpenShift   bool            `json:"openShift"`
	Launcher    bool            `json:"launcher"`

	ServiceLinks bool `json:"serviceLinks"`

	Cluster  render.Cluster `json:"cluster"`
	CABundle *struct {
		PEM  string `json:"pem"`
		Hash string `json:"hash"`
	} `json:"caBundle"`
	Registry *struct {
		Namespace string            `json:"namespace"`
		Start     []string          `json:"start"`
		Files     map[string]string `json:"files"`
	} `json:"registry"`
	External []struct {
		API        string            `json:"api"`
		ID         string            `json:"id"`
		Path       string            `json:"path"`
		Image      string            `json:"image"`
		PullPolicy corev1.PullPolicy `json:"pullPolicy"`
		Type       string            `json:"type"`
		Module     string            `json:"module"`
	} `json:"external"`
	ExternalFiles map[string]string `json:"externalFiles"`

	Expose  *v1alpha2.ExposeSpec `json:"expose"`
	Backend *struct {
		Hostname    string `json:"hostname"`
		Authorities string `json:"authorities"`
	} `json:"backend"`
}

// Input returns the input of a case. It rejects unknown keys.
func Input(t *testing.T, path string) render.Input {
	t.Helper()
	var f fixture
	if err := yaml.UnmarshalStrict(golden.Read(t, path), &f); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	in := render.Input{
		Stack: f.Stack, Image: f.Image, Server: f.Server, Paths: f.Paths, Secrets: f.Secrets, Offline: f.Offline,
		Directories: f.Directories, Inputs: f.Inputs, OpenShift: f.OpenShift, Launcher: f.Launcher, Cluster: f.Cluster,
		Expose:       f.Expose,
		ServiceLinks: f.ServiceLinks, ExternalFiles: f.ExternalFiles,
	}
	for _, provider := range f.External {
		in.External = append(in.External, render.ExternalProvider(provider))
	}
	if f.Config != nil {
		in.Config = &render.Config{
			ConfigMapName: f.Config.ConfigMapName, Key: f.Config.Key, Hash: f.Config.Hash, Whole: f.Config.Whole,
		}
		if f.Config.Data != nil {
			in.Config.Data = []byte(*f.Config.Data)
		}
	}
	if f.CABundle != nil {
		in.CABundle = &render.CABundle{PEM: []byte(f.CABundle.PEM), Hash: f.CABundle.Hash}
	}
	if f.Registry != nil {
		in.Registry = &render.Registry{
			Namespace: f.Registry.Namespace, Start: f.Registry.Start, Files: f.Registry.Files,
		}
	}
	if f.Backend != nil {
		in.Backend = &render.Backend{Hostname: f.Backend.Hostname}
		if f.Backend.Authorities != "" {
			in.Backend.Authorities = []byte(f.Backend.Authorities)
		}
	}
	if f.Base != nil {
		in.Base = &render.Base{ConfigMapName: f.Base.ConfigMapName, Data: append([]byte(f.Base.Data), f.Base.Binary...)}
	}
	return in
}
