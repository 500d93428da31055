package validate

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podtemplate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// clash is a name, a path or a port of the user that replaces or hides what the operator sets in the pods.
type clash struct {
	path          *field.Path
	text, message string
	// fatal reports whether a field of the same spec needs what the operator sets, so that the clash is an error.
	fatal bool
}

// ownNames rejects clashes with what a field of the same spec needs. A test in package plan compares the names that it
// knows with the pods that the operator renders.
func ownNames(c *checks) {
	for _, clash := range c.ownClashes() {
		if clash.fatal {
			c.InvalidText(clash.path, clash.text, "%s", clash.message)
		}
	}
}

// ownNamesUsed warns about the other clashes.
func ownNamesUsed(c *checks) []string {
	var warnings []string
	for _, clash := range c.ownClashes() {
		if !clash.fatal {
			warnings = append(warnings, fmt.Sprintf("%s: %q %s", clash.path, clash.text, clash.message))
		}
	}
	return warnings
}

// ownClashes returns all clashes. It searches them once.
func (c *checks) ownClashes() []clash {
	if c.clashes == nil {
		c.clashes = []clash{}
		c.volumeClashes()
		c.mountClashes()
		c.containerClashes()
		c.portClashes()
		c.variableClashes()
		for _, key := range slices.Sorted(maps.Keys(c.overrides().PodAnnotations)) {
			if slices.Contains(podtemplate.OwnAnnotations(), key) {
				c.clash(spec("workload", "overrides", "podAnnotations").Key(key), key, "",
					"is an annotation of the operator, which ignores this value: remove it")
			}
		}
	}
	return c.clashes
}

// clash adds a clash. The parameter need is the field that needs what the operator sets, or an empty string.
func (c *checks) clash(path *field.Path, text, need, format string, args ...any) {
	c.clashes = append(c.clashes, clash{path, text, fmt.Sprintf(format, args...), need != ""})
}

// whose describes a thing that the operator sets.
func whose(thing, need string) string {
	if need == "" {
		return "one of the operator's " + thing + "s"
	}
	return "the operator's " + thing + " that " + need + " needs"
}

// needs returns the path of a field if it is given.
func needs(given bool, names ...string) string {
	if !given {
		return ""
	}
	return spec(names...).String()
}

// configNeed returns the field that needs a configuration from the operator.
func (c *checks) configNeed() string {
	return cmp.Or(needs(c.Spec.OverrideConfig != nil, "overrideConfig"), c.generatedNeed())
}

// generatedNeed returns the field from which the operator generates a configuration.
func (c *checks) generatedNeed() string {
	if c.Spec.OverrideConfig != nil {
		return ""
	}
	configured := intent.Configured(&c.Spec)
	return cmp.Or(needs(configured != "", configured), c.certificateNeed(), c.workersNeed())
}

func (c *checks) workersNeed() string {
	return needs(c.intent.Server.Workers > 1, "workload", "workers")
}

func (c *checks) certificateNeed() string {
	return needs(c.tls().Enabled && c.tls().SecretName != "", "networking", "tls", "secretName")
}

func (c *checks) externalNeed() string {
	return needs(len(c.Spec.ExternalProviders) > 0, "externalProviders")
}

func (c *checks) dataPath() string { return cmp.Or(c.volume().MountPath, v1alpha2.DefaultMountPath) }

// ownVolume is a volume of the operator, with its mount in the server's container.
type ownVolume struct {
	name, dir string
	// need is the field that needs the volume. Empty means that no field of this spec needs it.
	need string
	// mounted reports whether the server's container has the mount, and no volume of the user is a usual replacement.
	mounted bool
	// readOnly reports whether no other volume can be mounted below the directory.
	readOnly bool
	// guarded reports whether package podtemplate rejects every change to the volume and its mount.
	guarded bool
}

func (c *checks) ownVolumes() []ownVolume {
	storage := needs(c.workload().Storage != nil, "workload", "storage")
	files := needs(c.Spec.ModelFiles != nil, "modelFiles")
	config, certificate, external := c.configNeed(), c.certificateNeed(), c.externalNeed()
	bundle := needs(c.tls().CABundle != nil, "networking", "tls", "caBundle")
	startup := cmp.Or(external, c.generatedNeed())
	// A v1alpha1 stack may have its own configuration in place of one that only the workers need (see package plan).
	replaceable := profile.Of(c.Annotations).WorkersNeedNoBase && config == c.workersNeed()
	return []ownVolume{
		{names.DataVolume, c.dataPath(), storage, storage != "", false, false},
		{names.TmpVolume, "/tmp", "", true, false, false},
		{names.ConfigVolume, names.ConfigDir, config, config != "" && !replaceable, true, true},
		{names.StartupVolume, names.StartupDir, startup, startup != "" && !replaceable, true, true},
		{names.TLSVolume, names.TLSDir, certificate, certificate != "", true, true},
		{names.CAVolume, names.CADir, bundle, bundle != "", true, true},
		{names.ExternalVolume, names.ExternalDir, external, external != "", true, false},
		{names.ModelFilesVolume, names.ModelFilesDir, files, files != "", true, false},
	}
}

func (c *checks) volumeClashes() {
	at := spec("workload", "overrides", "volumes")
	for i := range c.overrides().Volumes {
		name := c.overrides().Volumes[i].Name
		for _, own := range c.ownVolumes() {
			if own.name == name {
				c.clash(at.Index(i).Child("name"), name, own.need,
					"is the name of %s, which this volume replaces: use another name", whose("volume", own.need))
			}
		}
	}
	need := needs(c.workload().Storage != nil, "workload", "storage")
	for i, volume := range c.podPatch().Spec.Volumes {
		if volume.Name == names.DataVolume && need != "" && volume.VolumeSource != (corev1.VolumeSource{}) {
			c.clash(templatePath("volumes").Index(i).Child("name"), volume.Name, need,
				"is the name of %s, which this volume replaces: use another name", whose("volume", need))
		}
	}
}

// mountClashes finds mounts in place of the operator's mounts, and mounts that keep the server from starting: no
// directory for a mount can be created in a read-only volume.
func (c *checks) mountClashes() {
	volumes := c.ownVolumes()
	at := spec("workload", "overrides", "volumeMounts")
	for i := range c.overrides().VolumeMounts {
		c.mountClash(at.Index(i).Child("mountPath"), &c.overrides().VolumeMounts[i], volumes)
	}
	unguarded := slices.Clone(volumes)
	for i := range unguarded {
		unguarded[i].mounted = unguarded[i].mounted && !unguarded[i].guarded
	}
	if server, at := c.patchedServer(); server != nil {
		for i := range server.VolumeMounts {
			c.mountClash(at.Child("volumeMounts").Index(i).Child("mountPath"), &server.VolumeMounts[i], unguarded)
		}
	}
	if c.workload().Storage != nil {
		data := corev1.VolumeMount{Name: names.DataVolume, MountPath: c.dataPath()}
		c.mountClash(spec("workload", "storage", "mountPath"), &data, volumes[1:])
	}
}

func (c *checks) mountClash(at *field.Path, mount *corev1.VolumeMount, volumes []ownVolume) {
	place := path.Clean(mount.MountPath)
	for _, own := range volumes {
		dir, volume := path.Clean(own.dir), whose("volume", own.need)
		switch {
		case !own.mounted, mount.MountPath == "", mount.Name == own.name:
		case place == dir && mount.Name == names.DataVolume: // the rule for the mount path rejects it
		case place == dir:
			c.clash(at, mount.MountPath, own.need, "is the path of %s, which this mount replaces: use another path", volume)
		case own.readOnly && below(place, dir):
			c.clash(at, mount.MountPath, own.need,
				"is below %q, the path of %s, which is read-only, so this mount replaces a file or keeps the server from starting: use another path",
				dir, volume)
		case below(dir, place) && c.isReadOnly(mount):
			c.clash(at, mount.MountPath, own.need,
				"is above %q, the path of %s, and this mount is read-only, so the server does not start: use another path", dir, volume)
		}
	}
}

// below reports whether a clean path is below a clean directory.
func below(place, dir string) bool {
	return place != dir && strings.HasPrefix(place, strings.TrimSuffix(dir, "/")+"/")
}

// isReadOnly reports whether containers cannot write to a mount of the user.
func (c *checks) isReadOnly(mount *corev1.VolumeMount) bool {
	is := func(volume corev1.Volume) bool {
		return volume.Name == mount.Name && (volume.ConfigMap != nil || volume.Secret != nil || volume.Projected != nil ||
			volume.DownwardAPI != nil || volume.Image != nil)
	}
	return mount.ReadOnly || slices.ContainsFunc(c.overrides().Volumes, is) ||
		slices.ContainsFunc(c.podPatch().Spec.Volumes, is)
}

// ownContainers returns the init containers of the operator, with the field that needs each of them.
func (c *checks) ownContainers() map[string]string {
	generated, external := c.generatedNeed(), c.externalNeed()
	own := map[string]string{
		names.DirectoryContainer: generated, names.RegistryContainer: generated, names.ExternalContainer: external,
		names.ModelFilesContainer: needs(orZero(c.Spec.ModelFiles).Image != nil, "modelFiles", "image"),
	}
	for i := range c.intent.External {
		own[names.ExternalCopyContainer(c.intent.External[i].ID)] = external
	}
	return own
}

// containerClashes finds containers with the names of the operator's init containers. A patch may change the settings
// of these init containers, but not what they run.
func (c *checks) containerClashes() {
	own, server := c.ownContainers(), names.ServerContainer(c.Annotations)
	for i, container := range c.podPatch().Spec.InitContainers {
		at, name := templatePath("initContainers").Index(i).Child("name"), container.Name
		need, known := own[name]
		switch {
		case name == server:
			c.clash(at, name, server, "is the name of the server's container: use another name")
		case known && (container.Image != "" || len(container.Command)+len(container.Args) > 0):
			c.clash(at, name, need, "is the name of %s, which this one replaces: use another name", whose("init container", need))
		}
	}
	for i, container := range c.podPatch().Spec.Containers {
		if need, known := own[container.Name]; known {
			c.clash(templatePath("containers").Index(i).Child("name"), container.Name, need,
				"is the name of %s, and a pod cannot have two containers with the same name: use another name",
				whose("init container", need))
		}
	}
	if need, known := own[server]; known {
		c.clash(field.NewPath("metadata", "annotations").Key(names.AnnotationContainerName), server, need,
			"is the name of %s, and a pod cannot have two containers with the same name: use another name",
			whose("init container", need))
	}
}

// portClashes finds ports of the user with the name or the number of the server's port.
func (c *checks) portClashes() {
	need, server, at := needs(c.networking().Port != 0, "networking", "port"), names.ServerContainer(c.Annotations),
		templatePath("containers")
	for i, container := range c.podPatch().Spec.Containers {
		for j, port := range container.Ports {
			at := at.Index(i).Child("ports").Index(j)
			same := port.ContainerPort == c.intent.Server.Port &&
				cmp.Or(port.Protocol, corev1.ProtocolTCP) == corev1.ProtocolTCP
			switch {
			case container.Name == server && port.Name == names.PortName && !same:
				c.clash(at.Child("name"), port.Name, server, "is the name of the server's port, %d: use another name", c.intent.Server.Port)
			case container.Name != server && same:
				c.clash(at.Child("containerPort"), strconv.Itoa(int(port.ContainerPort)), need,
					"is the port of the server, and only one container of a pod can listen on a port: use another port")
			}
		}
	}
}

func templatePath(list string) *field.Path {
	return spec("workload", "overrides", "podTemplate", "spec", list)
}

// patchedServer returns the patch for the server's container, and its path. It returns nil if there is none.
func (c *checks) patchedServer() (*corev1.Container, *field.Path) {
	containers, server := c.podPatch().Spec.Containers, names.ServerContainer(c.Annotations)
	for i := range containers {
		if containers[i].Name == server {
			return &containers[i], templatePath("containers").Index(i)
		}
	}
	return nil, nil
}
