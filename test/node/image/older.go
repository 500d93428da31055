package image

import (
	"context"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// OlderOperator returns an image of the operator for v1alpha1. It contains the operator binary, the shared libraries on
// this machine that the binary needs, and the folder of manifests that the operator renders. The binary must already be
// built. The layers are written to the given directory.
func OlderOperator(ctx context.Context, program, manifests, folder string) (v1.Image, error) {
	program, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	shared, err := libraries(ctx, []string{program})
	if err != nil {
		return nil, err
	}
	layer, err := NewLayer(folder, append(append(users(serverUser), shared...),
		File{Source: program, Path: "/manager", Mode: 0o755}, Tree{Source: manifests, Path: "/manifests"})...)
	if err != nil {
		return nil, err
	}
	return New(v1.Config{
		Entrypoint: []string{"/manager"}, User: serverUser.id(), WorkingDir: "/",
		Env: []string{"PATH=/bin"},
	}, layer)
}
