package image

import (
	"context"
	"encoding/base64"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// serverUser is the user that server images specify.
var serverUser = user{"stack", 1001, root, "/app"}

// interpreter replaces the Python interpreter of a server's image for the scripts that run before the server starts. It
// handles the calls from the launcher of a stack with a userConfig. This launcher reads the release and starts the
// server's application. The program that updates the registry does nothing for a stand-in.
const interpreter = `#!/bin/sh
case "$1 $3" in
"-c llama-stack") echo "$STANDIN_VERSION" ;;
"-c "*) exit 1 ;;
"-m "*) RUN_CONFIG_PATH="$LLAMA_STACK_CONFIG" exec /standin ;;
esac
`

// StandIns returns images of test/node/standin, one for each of the given server releases, such as 0.7.3. Each image
// reports the version of its release and contains the configuration of that release's starter distribution. The images
// share all layers except the last.
func StandIns(ctx context.Context, folder string, releases ...string) (map[string]v1.Image, error) {
	program, err := buildProgram(ctx, folder, "./test/node/standin", "")
	if err != nil {
		return nil, err
	}
	// The operator makes directories with the shell of the server's image, and users check the volume with df.
	shell, err := programs(ctx, "sh", "mkdir", "df")
	if err != nil {
		return nil, err
	}
	// Stacks of the previous operator have /python in their $PATH, and their launcher also calls uvicorn by name.
	base, err := NewLayer(folder, append(append(users(serverUser), shell...),
		File{Source: program, Path: "/standin", Mode: 0o755},
		Content{Path: "/bin/python", Mode: 0o755, Content: []byte(interpreter)},
		Link{Path: "/python/python", Target: "/standin"}, Link{Path: "/python/uvicorn", Target: "/standin"},
		Link{Path: "/bin/ollama", Target: "/standin"})...)
	if err != nil {
		return nil, err
	}
	images := map[string]v1.Image{}
	for _, version := range releases {
		if images[version], err = standIn(folder, base, version); err != nil {
			return nil, err
		}
	}
	return images, nil
}

func standIn(folder string, base v1.Layer, version string) (v1.Image, error) {
	resolved, err := distribution.Resolve("starter", "", version, nil)
	if err != nil {
		return nil, fmt.Errorf("find the configuration of the stand-in: %w", err)
	}
	match, err := release.Lookup(version)
	if err != nil {
		return nil, fmt.Errorf("find the release of the stand-in: %w", err)
	}
	own := []Entry{Content{Path: "/app/config.yaml", Mode: 0o644, Content: resolved.Base}}
	// The command of the server's container can contain the path of the published image's entrypoint. The stand-in must
	// also start from this path.
	if published := match.Release.Runtime.Entrypoint; published != "" {
		own = append(own, Link{Path: published, Target: "/standin"})
	}
	config, err := NewLayer(folder, own...)
	if err != nil {
		return nil, err
	}
	return New(v1.Config{
		Entrypoint: []string{"/standin"}, User: serverUser.id(), WorkingDir: serverUser.home,
		Env:    []string{"PATH=/bin", "HOME=" + serverUser.home, "STANDIN_VERSION=" + version},
		Labels: labels(version, resolved.Base),
	}, base, config)
}

// ModelServer returns the image of a stand-in for a model server, ollama or vllm. Its entrypoint is the same as in the
// published image.
func ModelServer(standIn v1.Image, name string) (v1.Image, error) {
	file, err := standIn.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration of the stand-in: %w", err)
	}
	config := *file.Config.DeepCopy()
	config.Labels = nil
	switch name {
	case "ollama":
		config.Entrypoint, config.Cmd = []string{"/bin/ollama"}, []string{"serve"}
	case "vllm":
		config.Entrypoint = []string{"/standin", "vllm"}
	default:
		return nil, fmt.Errorf("no stand-in for the model server %q; use ollama or vllm", name)
	}
	image, err := mutate.Config(standIn, config)
	if err != nil {
		return nil, fmt.Errorf("write the configuration of the model server: %w", err)
	}
	return image, nil
}

// labels returns the labels that the operator reads from a server's image.
func labels(version string, config []byte) map[string]string {
	return map[string]string{
		registry.LabelBase64:  base64.StdEncoding.EncodeToString(config),
		registry.LabelRelease: version,
	}
}
