package image

import (
	"context"
	"encoding/base64"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
)

// serverUser is who images of servers run as.
var serverUser = user{"stack", 1001, root, "/app"}

// StandIns are images of test/node/standin, one for each release of the server (0.7.3) that it is to stand in for: with
// that version, and the configuration of that release's starter distribution. They share their layers but the last.
func StandIns(ctx context.Context, folder string, releases ...string) (map[string]v1.Image, error) {
	program, err := buildProgram(ctx, folder, "./test/node/standin", "")
	if err != nil {
		return nil, err
	}
	// The operator makes directories with the shell of the server's image.
	shell, err := programs(ctx, "sh", "mkdir")
	if err != nil {
		return nil, err
	}
	base, err := NewLayer(folder, append(append(users(serverUser), shell...), File{Source: program, Path: "/standin", Mode: 0o755})...)
	if err != nil {
		return nil, err
	}
	images := map[string]v1.Image{}
	for _, release := range releases {
		if images[release], err = standIn(folder, base, release); err != nil {
			return nil, err
		}
	}
	return images, nil
}

func standIn(folder string, base v1.Layer, release string) (v1.Image, error) {
	resolved, err := distribution.Resolve("starter", "", release, nil)
	if err != nil {
		return nil, fmt.Errorf("find configuration of stand-in: %w", err)
	}
	config, err := NewLayer(folder, Content{Path: "/app/config.yaml", Mode: 0o644, Content: resolved.Base})
	if err != nil {
		return nil, err
	}
	return New(v1.Config{
		Entrypoint: []string{"/standin"}, User: serverUser.id(), WorkingDir: serverUser.home,
		Env:    []string{"PATH=/bin", "HOME=" + serverUser.home, "STANDIN_VERSION=" + release},
		Labels: labels(release, resolved.Base),
	}, base, config)
}

// labels are what the operator reads of a server's image.
func labels(release string, config []byte) map[string]string {
	return map[string]string{
		registry.LabelBase64:  base64.StdEncoding.EncodeToString(config),
		registry.LabelRelease: release,
	}
}
