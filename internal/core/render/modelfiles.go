package render

import (
	"cmp"
	"path"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// copiedFiles is the part of the volume to which model files are copied from an image.
const copiedFiles = "files"

// modelFilesScript copies model files from their image with the image's own programs. Its arguments are the image's
// name, the source, the target, and the file for the termination message. The kubelet can run the script again, so the
// script empties the target first. It makes the files readable and writable for everyone, because the server's image
// can run as another user. It copies links as links, because a Hugging Face Hub cache contains links.
const modelFilesScript = copyStart + `[ -d "$source" ] || fail "The directory $source does not exist in image $image"
if [ ! -r "$source" ] || [ ! -x "$source" ]; then
  fail "Cannot read $source in image $image: make it readable by every user"
fi
each remove
cp -R -P "$source/." "$target" 2>"$log"
code=$?
IFS= read -r reason <"$log"
each open
[ "$code" -eq 0 ] || fail "Cannot copy $source from image $image: ${reason:-cp gives no reason}"
: >"$log"
`

// modelFilesImage returns the image with model files, or nil if the stack has no model files or they are on a volume.
func modelFilesImage(in Input) *v1alpha2.ModelFilesImage {
	if files := in.Stack.Spec.ModelFiles; files != nil && files.PersistentVolumeClaim == nil {
		return files.Image
	}
	return nil
}

// modelFilesVolume returns the volume with the model files, and the directory in it that the server's container mounts.
// The volume is nil if there are no model files.
func modelFilesVolume(in Input) (volume *corev1ac.VolumeApplyConfiguration, part string) {
	files := in.Stack.Spec.ModelFiles
	switch {
	case files == nil:
		return nil, ""
	case files.PersistentVolumeClaim != nil:
		return corev1ac.Volume().WithName(names.ModelFilesVolume).WithPersistentVolumeClaim(
			corev1ac.PersistentVolumeClaimVolumeSource().
				WithClaimName(files.PersistentVolumeClaim.ClaimName).WithReadOnly(true)), ""
	case files.Image != nil:
		return corev1ac.Volume().WithName(names.ModelFilesVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()), copiedFiles
	default:
		return nil, ""
	}
}

// modelFilesContainer returns a container that copies model files from their image. It returns nil if the model files
// are not in an image.
func modelFilesContainer(in Input, server *corev1ac.ContainerApplyConfiguration) *corev1ac.ContainerApplyConfiguration {
	image := modelFilesImage(in)
	if image == nil {
		return nil
	}
	source := path.Clean(cmp.Or(image.Path, v1alpha2.DefaultModelFilesPath))
	return copying{
		name: names.ModelFilesContainer, image: image.Reference, pullPolicy: image.PullPolicy,
		script: modelFilesScript, source: source, target: names.ModelFilesCopyDir,
		volume: names.ModelFilesVolume, part: copiedFiles,
	}.container(server)
}

// modelFilesVariables returns the variables with the paths of the files for the server's libraries.
func modelFilesVariables(files *v1alpha2.ModelFilesSpec) []EnvVar {
	var env []EnvVar
	if files == nil {
		return nil
	}
	if cache := files.HuggingFaceCache; cache != "" {
		place := path.Join(names.ModelFilesDir, cache)
		env = append(env, EnvVar{Name: names.EnvHubCache, Value: place},
			EnvVar{Name: names.EnvSentenceTransformers, Value: place})
	}
	if cache := files.TiktokenCache; cache != "" {
		env = append(env, EnvVar{Name: names.EnvTiktokenCache, Value: path.Join(names.ModelFilesDir, cache)})
	}
	return env
}

// isModelFiles reports whether a volume is the claim with model files, to which no pod writes.
func isModelFiles(volume *corev1ac.VolumeApplyConfiguration) bool {
	claim := volume.PersistentVolumeClaim
	return ptr.Deref(volume.Name, "") == names.ModelFilesVolume && claim != nil && ptr.Deref(claim.ReadOnly, false)
}
