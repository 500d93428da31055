package plan

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
)

// placesOf returns the places where the stack's data is stored, according to the configuration and to the rendered pod
// with patches.
func (p *Plan) placesOf(in Input, deployment *appsv1ac.DeploymentApplyConfiguration) (*retention.Places, error) {
	server := names.ServerContainer(in.Object.Annotations)
	pod, err := typedPod(deployment.Spec.Template.Spec, server)
	if err != nil {
		return nil, fmt.Errorf("read the pod of Deployment %q: %w", in.Object.Name, err)
	}
	config := p.root()
	if config == nil && p.Mode == ModeImageDefault {
		config = rootOf(in.Distribution.Shipped())
	}
	return retention.Of(retention.Input{
		Config: config, Override: p.Mode == ModeOverride, Release: in.Distribution.Release,
		ReleaseUnknown: in.Distribution.DetectedBy == distribution.Unknown, Adopts: p.input.Registry != nil,
		Pod: retention.PodOf(pod, server, p.derivedFrom(in.Object.Name)),
	}), nil
}

// typedPod returns the parts of a rendered pod, and of its server container, that determine where data is stored.
func typedPod(rendered *corev1ac.PodSpecApplyConfiguration, server string) (*corev1.PodSpec, error) {
	part := corev1ac.PodSpecApplyConfiguration{Volumes: rendered.Volumes}
	for i := range rendered.Containers {
		if container := &rendered.Containers[i]; container.Name != nil && *container.Name == server {
			part.Containers = append(part.Containers, corev1ac.ContainerApplyConfiguration{
				Name: container.Name, Env: container.Env, VolumeMounts: container.VolumeMounts,
			})
		}
	}
	data, err := json.Marshal(part)
	if err != nil {
		return nil, err
	}
	pod := &corev1.PodSpec{}
	return pod, json.Unmarshal(data, pod)
}

// root returns the configuration that the server reads, or nil if it is unknown.
func (p *Plan) root() *yaml.Node {
	if p.Report != nil {
		return p.Report.Root()
	}
	return rootOf(p.serverConfig())
}

func rootOf(config []byte) *yaml.Node {
	if len(config) == 0 {
		return nil
	}
	parsed, err := baseconfig.Parse(config)
	if err != nil {
		return nil
	}
	return parsed.Root()
}

// derivedFrom returns a function for retention.PodOf. The function returns the source of a value in the stack's Secret
// with derived values, retention.Hidden for an unknown source, and an empty string for any other Secret.
func (p *Plan) derivedFrom(stack string) func(secret, key string) string {
	return func(secret, key string) string {
		if !names.IsStorageSecret(stack, secret) {
			return ""
		}
		for _, value := range p.Derived {
			if value.Key == key {
				return retention.Reference(value.Secret, value.SecretKey)
			}
		}
		return retention.Hidden
	}
}

// Running is a Deployment whose record does not contain the places of its data.
type Running struct {
	// Stack is the stack's name, and Container is the name of the server's container.
	Stack, Container string
	// Distribution is the distribution of its image.
	Distribution distribution.Resolved
	// Pod is the pod spec of its template.
	Pod *corev1.PodSpec
	// Config is the mounted configuration. Nil means the image's own configuration. Override reports whether the user
	// wrote it.
	Config   []byte
	Override bool
}

// PlacesOf returns the places of a running stack's data.
func PlacesOf(in Running) *retention.Places {
	config := in.Config
	if config == nil && !in.Override {
		config = in.Distribution.Shipped()
	}
	derived := func(secret, _ string) string {
		if names.IsStorageSecret(in.Stack, secret) {
			return retention.Hidden
		}
		return ""
	}
	return retention.Of(retention.Input{
		Config: rootOf(config), Override: in.Override, Release: in.Distribution.Release,
		ReleaseUnknown: in.Distribution.DetectedBy == distribution.Unknown,
		Pod:            retention.PodOf(in.Pod, in.Container, derived),
	})
}
