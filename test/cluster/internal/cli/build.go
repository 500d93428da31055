package cli

import (
	"context"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/binaries"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/line"
)

// assetsVariable is the environment variable with the directory of envtest's programs.
const assetsVariable = "KUBEBUILDER_ASSETS"

func runBuild(ctx context.Context, env environment, args []string) error {
	flags := newFlags(env, "build", "", "Downloads the programs for a control plane into the user's cache, or builds them from Go modules if the\ndownload fails, if CI is set, or if CLUSTER_PROGRAMS is build. If CLUSTER_PROGRAMS is release, never builds\nthe Kubernetes and etcd programs. Does nothing if the programs exist.")
	name := lineFlag(env, flags)
	withNode := flags.Bool("node", false, "also download or build the programs for a node")
	if err := parse(flags, args); err != nil {
		return err
	}
	l, err := loadLine(env, *name)
	if err != nil {
		return err
	}
	if _, err := programs(ctx, env, binaries.ControlPlane(l)); err != nil || !*withNode {
		return err
	}
	_, err = nodePrograms(ctx, env, l)
	return err
}

func runAssets(ctx context.Context, env environment, args []string) error {
	flags := newFlags(env, "assets", "", "Prints the folder with etcd, kube-apiserver and kubectl, for KUBEBUILDER_ASSETS, and first downloads or\nbuilds the programs if they do not exist. If KUBEBUILDER_ASSETS is set, prints its value and does nothing else.")
	name := lineFlag(env, flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	folder := env.getenv(assetsVariable)
	if folder == "" {
		l, err := loadLine(env, *name)
		if err != nil {
			return err
		}
		if folder, err = programs(ctx, env, binaries.ControlPlane(l)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(env.stdout, folder)
	return err
}

// programs returns the directory with the programs of a set, and downloads or builds those that the set needs if
// necessary.
func programs(ctx context.Context, env environment, set binaries.Set) (string, error) {
	folders, err := built(ctx, env, set)
	if err != nil {
		return "", err
	}
	return folders[0], nil
}

// nodePrograms returns the directories with the programs for a node, and downloads or builds them if necessary.
func nodePrograms(ctx context.Context, env environment, l line.Line) ([]string, error) {
	return built(ctx, env, binaries.Node(l)...)
}

// built returns the directory of each set, and downloads or builds its programs if necessary.
func built(ctx context.Context, env environment, sets ...binaries.Set) ([]string, error) {
	cache, err := binaries.DefaultFolder()
	if err != nil {
		return nil, err
	}
	origin, err := binaries.OriginFrom(env.getenv)
	if err != nil {
		return nil, err
	}
	var folders []string
	for i, set := range sets {
		builder := binaries.Cache{Folder: cache, Progress: env.stderr, Origin: origin}
		if len(sets) > 1 {
			builder.Part = fmt.Sprintf(" (part %d of %d)", i+1, len(sets))
		}
		folder, err := builder.Ensure(ctx, set)
		if err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	return folders, nil
}
