package image

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// nonroot is the user of distroless images, and of the operator's image.
var nonroot = user{"nonroot", 65532, 65532, "/home/nonroot"}

// Operator returns the image that the Dockerfile describes. It contains only the operator binary, its user, and the
// certificates of public certificate authorities. The layers are written to the given directory.
func Operator(ctx context.Context, folder, version string) (v1.Image, error) {
	return OperatorOf(ctx, worktree.Root(), folder, version)
}

// OperatorOf returns the same image as Operator, but with the binary from another work tree, for example a work tree of
// an older version.
func OperatorOf(ctx context.Context, source, folder, version string) (v1.Image, error) {
	program, err := buildProgramOf(ctx, source, folder, "./cmd/manager", version)
	if err != nil {
		return nil, err
	}
	base, err := NewLayer(folder, append(users(nonroot), Content{
		Path: "/etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Content: cabundle.PEM(nil),
	})...)
	if err != nil {
		return nil, err
	}
	manager, err := NewLayer(folder, File{Source: program, Path: "/manager", Mode: 0o755})
	if err != nil {
		return nil, err
	}
	return New(v1.Config{
		Entrypoint: []string{"/manager"}, User: nonroot.id(), WorkingDir: "/",
		Env: []string{"PATH=/"},
		Labels: map[string]string{
			"org.opencontainers.image.title":   "llama-stack-k8s-operator",
			"org.opencontainers.image.version": version,
		},
	}, base, manager)
}
