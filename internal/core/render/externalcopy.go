package render

import (
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// packageDir is the directory of a provider's package in its image.
	packageDir = "/lls-provider"
	// terminationLog is the file for the termination message of a container.
	terminationLog = "/dev/termination-log"
	// tokenDir is the directory at which Kubernetes mounts the token of the pod's ServiceAccount, unless another volume
	// is mounted there.
	tokenDir = "/var/run/secrets/kubernetes.io/serviceaccount"
	// The constant nothing is the name of an empty directory in the volume.
	nothing = "nothing"
)

// copyStart is the start of the scripts that copy files out of an image.
const copyStart = `image=$1 source=$2 target=$3 log=$4
fail() {
  printf '%s\n' "$1" >&2
  printf '%s\n' "$1" >"$log"
  exit 1
}
each() {
  for entry in "$target"/* "$target"/.[!.]* "$target"/..?*; do
    if [ -e "$entry" ] || [ -L "$entry" ]; then "$@" "$entry"; fi
  done
}
open() { [ -L "$1" ] || chmod -R a+rwX "$1"; }
remove() {
  open "$1"
  rm -rf "$1" || fail "Cannot remove the files that an earlier run copied out of image $image"
}
`

// copyScript copies the package from its image with the image's own programs. Its arguments are the image's name, the
// source, the target, and the file for the termination message. The kubelet can run the script again, so the script
// empties the target first.
//
// It copies links as links. It makes the tree readable and writable for everyone, because the server's image can run as
// another user, and the next run must be able to remove the tree. The script does not contain two adjacent dollar
// signs, because Kubernetes would replace them with one.
const copyScript = copyStart + `limited=
if timeout 1 /bin/sh -c : 2>/dev/null; then limited='timeout 300'; fi
if [ -d "$source" ] && { [ ! -r "$source" ] || [ ! -x "$source" ]; }; then
  fail "Cannot read $source in image $image: make it readable by every user"
fi
[ -f "$source/lls-provider-spec.yaml" ] || fail "Missing $source/lls-provider-spec.yaml in image $image"
size=$($limited du -sk "$source/." 2>"$log")
size=${size%%[!0-9]*}
IFS= read -r unread <"$log"
[ -n "$size" ] || fail "Cannot measure $source in image $image: ${unread:-du gives no size}"
[ "$size" -le 2097152 ] || fail "$source in image $image has $size KiB, but the limit is 2097152 KiB: remove the packages that the server already has"
each remove
ulimit -f 4194304
$limited cp -R -P "$source/." "$target" 2>"$log"
code=$?
IFS= read -r reason <"$log"
each open
case $code in
0) : >"$log" ;;
124 | 137 | 143) fail "Cannot copy $source from image $image within 300 seconds" ;;
153) fail "Cannot copy $source from image $image: a file is larger than 2 GiB" ;;
*) fail "Cannot copy $source from image $image: ${reason:-${unread:-cp gives no reason}}" ;;
esac
`

// copyContainer returns a container that copies the package of a provider to a directory of the volume. The name of the
// directory is the provider's number.
func copyContainer(
	number int, provider *ExternalProvider, server *corev1ac.ContainerApplyConfiguration,
) *corev1ac.ContainerApplyConfiguration {
	part := path.Join(names.ExternalImages, strconv.Itoa(number))
	return copying{
		name: names.ExternalCopyContainer(provider.ID), image: provider.Image, pullPolicy: provider.PullPolicy,
		script: copyScript, source: packageDir, target: names.ExternalCopyDir, volume: names.ExternalVolume, part: part,
	}.container(server)
}

// copying describes a container that copies a directory from its own image to a part of a volume.
type copying struct {
	name, image    string
	pullPolicy     corev1.PullPolicy
	script         string
	source, target string
	volume, part   string
}

// container returns the container that c describes. It can write only to the target, and has neither the server's
// environment nor a token, because it runs programs from a user's image.
func (c copying) container(server *corev1ac.ContainerApplyConfiguration) *corev1ac.ContainerApplyConfiguration {
	container := corev1ac.Container().
		WithName(c.name).
		WithImage(c.image).
		WithCommand(shell(c.script, "copy", c.image, c.source, c.target, terminationLog)...).
		WithWorkingDir("/").
		WithResources(within(server.Resources, copyLimits())).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(c.volume).WithMountPath(c.target).WithSubPath(c.part),
			withoutToken(c.volume)).
		WithSecurityContext(restricted().WithReadOnlyRootFilesystem(true)).
		WithTerminationMessagePath(terminationLog).
		WithTerminationMessagePolicy(corev1.TerminationMessageReadFile)
	setPullPolicy(container, c.pullPolicy)
	return container
}

// withoutToken returns a mount that keeps the token of the pod's ServiceAccount out of a container. It mounts an empty
// directory of a volume, because Kubernetes mounts no token where another volume is mounted.
func withoutToken(volume string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(volume).WithMountPath(tokenDir).WithSubPath(nothing).WithReadOnly(true)
}
