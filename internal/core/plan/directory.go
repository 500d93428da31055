package plan

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// legacyDirectory is the name of the data directory in 0.7 and older. Newer releases move this directory to
// movedDirectory unless a variable sets their data directory (server fact 77).
const (
	legacyDirectory = ".llama"
	movedDirectory  = ".ogx"
)

// defaultDistribution is the distribution whose variables a user's own image gets.
const defaultDistribution = "starter"

// paths returns the variables with the server's directories.
//
// The first one sets the server's data directory, so that the server moves no files when it starts. With
// workload.storage, the others set the directories of a configuration, and those of the distribution's own
// configuration, to paths on the volume. All data is then on the volume, and the paths do not change with release 0.8,
// in which the server's default changed (server fact 41). A v1alpha1 stack gets such variables only for directories
// whose default is no longer on its volume.
func paths(in Input, config []byte) []render.EnvVar {
	spec := &in.Object.Spec
	root := dataRoot(in)
	var found []stackconfig.EnvVar
	switch {
	case !profile.Of(in.Object.Annotations).HomeOfImage && storage(spec):
		found = volumePaths(in, config)
	case root != "":
		mounts := dataMounts(in)
		found = stackconfig.PathsBeside(config, in.Distribution.Release, in.Distribution.Published(), root,
			func(path string) bool {
				return slices.ContainsFunc(mounts, func(mount string) bool { return within(path, mount) })
			})
	}
	if variable := dataDirVariable(in); variable != "" && root != "" && !movesInVolume(in, config, root) {
		found = slices.Insert(found, 0, stackconfig.EnvVar{Name: variable, Value: root})
	}
	return variables(found)
}

// volumePaths returns the variables that set all directories of a configuration to paths on the volume. The
// configuration in a user's own image is unknown, and gets the variables of the default distribution.
func volumePaths(in Input, config []byte) []stackconfig.EnvVar {
	mountPath, name := render.MountPath(&in.Object.Spec), in.Distribution.Published()
	if _, known := in.Distribution.Release.Distribution(name); !known {
		name = defaultDistribution
	}
	found := stackconfig.PathsIn(config, mountPath)
	for _, known := range stackconfig.PathVariables(in.Distribution.Release, name, mountPath) {
		if !slices.ContainsFunc(found, func(e stackconfig.EnvVar) bool { return e.Name == known.Name }) {
			found = append(found, known)
		}
	}
	return byName(found)
}

// dataDirVariable returns the variable that keeps the server from moving files, or an empty string if the server moves
// none. If the release is not certain, it returns the variable of the newest release, because other releases ignore it.
func dataDirVariable(in Input) string {
	runtime := in.Distribution.Release.Runtime
	if runtime.MovedDir == "" && (in.Distribution.DetectedBy == distribution.Unknown || in.Distribution.TagAlone()) {
		lines := release.Lines()
		if newest, err := release.Lookup(lines[len(lines)-1]); err == nil {
			runtime = newest.Release.Runtime
		}
	}
	if runtime.MovedDir == "" {
		return ""
	}
	return runtime.DataDirVariable
}

// movesInVolume reports whether a v1alpha1 stack with an unknown configuration has its home directory on a volume. The
// server then renames the directory on the volume, and finds the data at the new path. Without the move, only variables
// in the configuration, which are unknown, could make the server find the data.
func movesInVolume(in Input, config []byte, root string) bool {
	_, known := in.Distribution.Release.Distribution(in.Distribution.Published())
	return profile.Of(in.Object.Annotations).HomeOfImage && !known && in.Override == nil &&
		len(bytes.TrimSpace(config)) == 0 &&
		slices.ContainsFunc(dataMounts(in), func(mount string) bool { return within(path.Dir(root), mount) })
}

// dataRoot returns the data directory of the server, such as /.llama. This is ~/.llama if the home directory is known
// and on a volume, and otherwise the data directory that the path of a volume contains. It returns an empty string if
// neither is known. If a server has already moved ~/.llama to ~/.ogx, the result is ~/.ogx.
func dataRoot(in Input) string {
	spec := &in.Object.Spec
	mounts := dataMounts(in)
	if home, known := homeDirectory(in); known {
		root := path.Join(home, legacyDirectory)
		if moved := path.Join(home, movedDirectory); in.Before.Uses(moved) && !in.Before.Uses(root) {
			root = moved
		}
		if slices.ContainsFunc(mounts, func(mount string) bool { return within(root, mount) || within(mount, root) }) {
			return root
		}
	}
	for _, mount := range append(mounts, render.MountPath(spec)) {
		if root := stackconfig.DataRoot(mount); root != "" {
			return root
		}
	}
	if profile.Of(in.Object.Annotations).HomeOfImage {
		return ""
	}
	return path.Join(render.MountPath(spec), legacyDirectory)
}

// homeDirectory returns the server's home directory. The image determines the home directory if neither the user nor
// the operator sets it, and this home directory is unknown.
func homeDirectory(in Input) (home string, known bool) {
	if own := in.Intent.Container.Home; own != nil {
		return *own, path.IsAbs(*own)
	}
	spec := &in.Object.Spec
	return render.MountPath(spec), !profile.Of(in.Object.Annotations).HomeOfImage && storage(spec)
}

// dataMounts returns the paths of the data volume and of the user's volumes.
func dataMounts(in Input) []string {
	mounts := slices.Clone(in.Intent.Container.Mounts)
	if spec := &in.Object.Spec; storage(spec) {
		mounts = slices.Insert(mounts, 0, render.MountPath(spec))
	}
	return mounts
}

func storage(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return spec.Workload != nil && spec.Workload.Storage != nil
}

// within reports whether a path is a directory or is below it.
func within(place, directory string) bool {
	directory = strings.TrimSuffix(path.Clean(directory), "/")
	return place == directory || strings.HasPrefix(place, directory+"/")
}
