package image

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// entrypoint is the entrypoint of the published images of release 0.3 and later. It starts the server with the path of
// a configuration file or, if that file does not exist, with the name of a distribution.
const entrypoint = `#!/bin/sh
if [ -n "$RUN_CONFIG_PATH" ] && [ -f "$RUN_CONFIG_PATH" ]; then exec %[1]s "$RUN_CONFIG_PATH" "$@"; fi
exec %[1]s "${DISTRO_NAME}" "$@"
`

const (
	entrypointPath = "/usr/local/bin/entrypoint.sh"
	tokenizerPath  = "/.cache/tiktoken"
	// ownConfig is the path of the configuration in an image.
	ownConfig = "/app/config.yaml"
)

// unused matches the packages that no provider in the test's configurations imports, the tests in every package, and
// type stubs. Together, they make up half the size of an environment. The largest of them are the packages for Oracle
// Cloud.
var unused = regexp.MustCompile(`/site-packages/((oci|oracledb|pkcs11|pip|setuptools)(-[^/]*)?|[^/]+/tests?)$|\.pyi$`)

// services is the folder in which a package describes all AWS services.
const services = "/site-packages/botocore/data/"

// usedServices matches the AWS services that providers use: the services for models and files.
var usedServices = regexp.MustCompile(`^(bedrock[^/]*|s3)(/|$)|\.json$`)

// omitPackage reports whether an image omits a path in an environment: a path that the pattern `unused` matches, or the
// description of an AWS service that no provider uses.
func omitPackage(path string) bool {
	_, service, found := strings.Cut(path, services)
	return unused.MatchString(path) || found && !usedServices.MatchString(service)
}

// omitTokenizer reports whether an image omits a tokenizer file, because the file does not have the format that the
// server reads.
func omitTokenizer(path string) bool { return strings.HasSuffix(path, ".json") }

// Server returns an image of the real server of a release, such as 0.7.3, from the same environment that the tests in
// test/server use. The image contains the interpreter, the packages, and the shared libraries that the interpreter and
// the packages need, all at the same paths as on this machine. It includes the configuration of the release's starter
// distribution, without the providers whose packages the image omits.
func Server(ctx context.Context, folder, version string) (v1.Image, error) {
	match, err := release.Lookup(version)
	if err != nil {
		return nil, fmt.Errorf("find the release of the server image: %w", err)
	}
	config, err := corpus.LightStarter(match.Release)
	if err != nil {
		return nil, err
	}
	bin, err := realserver.Install(ctx, version)
	if err != nil {
		return nil, err
	}
	support, err := realserver.InstallSupport(ctx)
	if err != nil {
		return nil, err
	}
	interpreter, err := findPython(ctx, bin)
	if err != nil {
		return nil, err
	}
	layers, err := serverLayers(ctx, folder, interpreter, filepath.Dir(bin), []Entry{
		Tree{Source: support.Tokenizer, Path: tokenizerPath, Omit: omitTokenizer},
		Content{Path: ownConfig, Mode: 0o644, Content: config},
		Content{Path: entrypointPath, Mode: 0o755, Content: fmt.Appendf(nil, entrypoint,
			strings.Join(match.Release.Runtime.Command, " "))},
	})
	if err != nil {
		return nil, err
	}
	return New(v1.Config{
		Entrypoint: []string{entrypointPath}, User: serverUser.id(), WorkingDir: serverUser.home,
		Env: []string{
			"PATH=" + bin + ":/usr/local/bin:/bin", "HOME=" + serverUser.home, "PYTHONUNBUFFERED=1",
			"TIKTOKEN_CACHE_DIR=" + tokenizerPath, "DISTRO_NAME=" + ownConfig,
		},
		Labels: labels(version, config),
	}, layers...)
}

// serverLayers returns three layers. The first layer contains the machine's programs and libraries, and the entries in
// the parameter `own`. The second layer contains the interpreter. The third layer contains the environment.
func serverLayers(
	ctx context.Context, folder string, interpreter python, environment string, own []Entry,
) ([]v1.Layer, error) {
	base, err := programs(ctx, "sh", "mkdir", "dirname", "realpath", "cat")
	if err != nil {
		return nil, err
	}
	files := []string{interpreter.Program}
	for tree, omit := range map[string]func(string) bool{interpreter.Library: interpreter.omit, environment: omitPackage} {
		modules, err := extensions(tree, omit)
		if err != nil {
			return nil, err
		}
		files = append(files, modules...)
	}
	shared, err := libraries(ctx, files, interpreter.Library, environment)
	if err != nil {
		return nil, err
	}
	base = append(append(base, shared...), users(serverUser)...)
	for _, writable := range []string{"/.llama", "/.ogx", "/.cache"} {
		base = append(base, Directory{Path: writable, Mode: 0o775, UID: serverUser.uid})
	}
	language, err := interpreter.entries()
	if err != nil {
		return nil, err
	}
	packages := Tree{Source: environment, Path: environment, Omit: omitPackage}
	var layers []v1.Layer
	for _, entries := range [][]Entry{append(base, own...), language, {packages}} {
		layer, err := NewLayer(folder, entries...)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return layers, nil
}
