package image

import (
	"context"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// torch replaces PyTorch. Providers of the starter distribution import PyTorch when the server starts, but use it only
// for models that run in the server.
const torch = `def no_grad():
    return lambda function: function
`

// clients is the folder in the image that contains the client libraries for databases.
const clients = "/opt/clients"

// Starter returns an image of the real server of a release, like Server. The server in this image also starts with the
// published configuration of the starter distribution, and with the databases that a stack can add.
func Starter(ctx context.Context, folder, version string) (v1.Image, error) {
	match, err := release.Lookup(version)
	if err != nil {
		return nil, fmt.Errorf("find the release of the server image: %w", err)
	}
	server, err := Server(ctx, folder, version)
	if err != nil {
		return nil, err
	}
	bin, err := realserver.Install(ctx, version)
	if err != nil {
		return nil, err
	}
	packages, err := realserver.Packages(bin)
	if err != nil {
		return nil, err
	}
	entries := []Entry{
		Content{Path: packages + "/torch.py", Mode: 0o644, Content: []byte(torch)},
		Link{Path: match.Release.Runtime.Entrypoint, Target: entrypointPath},
	}
	added, err := clientLibraries(ctx, version, packages)
	if err != nil {
		return nil, err
	}
	layer, err := NewLayer(folder, append(entries, added...)...)
	if err != nil {
		return nil, err
	}
	built, err := mutate.AppendLayers(server, layer)
	if err != nil {
		return nil, fmt.Errorf("append layers: %w", err)
	}
	return built, nil
}

// clientLibraries returns the client libraries for databases, if the release has a lock file for these libraries.
func clientLibraries(ctx context.Context, version, packages string) ([]Entry, error) {
	added, err := realserver.InstallClients(ctx, version)
	if err != nil || added == "" {
		return nil, err
	}
	modules, err := extensions(added, omitPackage)
	if err != nil {
		return nil, err
	}
	shared, err := libraries(ctx, modules, added)
	if err != nil {
		return nil, err
	}
	return append(shared,
		Tree{Source: added, Path: clients, Omit: omitPackage},
		Content{Path: packages + "/clients.pth", Mode: 0o644, Content: []byte(clients + "\n")},
	), nil
}
