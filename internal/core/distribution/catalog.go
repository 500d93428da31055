package distribution

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// entry is one distribution in the catalog.
type entry struct {
	name string
	// last is the last release that contains the distribution. Empty means that the newest release contains it too.
	last string
	// only is the list of the releases that contain the distribution, if there are few. Empty means all.
	only []string
}

// pinned maps each release line to the release that a stack runs if it requests only the line. The image tag of the
// release is known from public use, and the data of the line covers the release. If no such tag is known, the pinned
// release was the newest when images for the line were built.
var pinned = map[string]string{
	"0.2": "0.2.24",
	"0.3": "0.3.5",
	"0.4": "0.4.5",
	"0.5": "0.5.2",
	"0.6": "0.6.1",
	"0.7": "0.7.1",
	"0.8": "0.8.0",
	"1.0": "1.0.3",
	"1.1": "1.1.3",
	"1.2": "1.2.5",
	"1.3": "1.3.1",
	"1.4": "1.4.1",
	"1.5": "1.5.0",
}

// catalog lists the known distributions by name.
var catalog = []entry{
	{name: "meta-reference-gpu", last: "0.4.7"},
	{name: "postgres-demo"},
	{name: "remote-vllm", last: "0.2.14", only: []string{"0.2.14"}},
	{name: "starter"},
}

// image returns the image of a release, with its tag.
func (e *entry) image(version string) string {
	return "docker.io/ogxai/distribution-" + e.name + ":" + version
}

// pin returns the pinned release of a line, or the release that the entry's field "only" lists for that line. It
// returns an empty string if the line is not offered, or if this release does not contain the distribution.
func (e *entry) pin(line string) string {
	if !release.IsOffered(line) {
		return ""
	}
	version, ok := pinned[line]
	if i := slices.IndexFunc(e.only, func(v string) bool { return strings.HasPrefix(v, line+".") }); i >= 0 {
		version, ok = e.only[i], true
	}
	if !ok || !e.has(version) {
		return ""
	}
	return version
}

// has reports whether a release contains the distribution.
func (e *entry) has(version string) bool {
	return (e.last == "" || release.Compare(version, e.last) <= 0) && (e.only == nil || slices.Contains(e.only, version))
}

// versions returns, in ascending order, the releases of a line that users may request: the releases covered by the
// line's data, and the pinned one. It returns nil if the line is not offered.
func (e *entry) versions(line string) []string {
	match, err := release.LookupOffered(line)
	if err != nil {
		return nil
	}
	all := append(slices.Clone(match.Release.Covers), e.only...)
	if pin := e.pin(line); pin != "" {
		all = append(all, pin)
	}
	all = slices.DeleteFunc(all, func(v string) bool { return !e.has(v) || !strings.HasPrefix(v, line+".") })
	slices.SortFunc(all, release.Compare)
	return slices.Compact(all)
}

// defaultVersion returns the release for a name without a version: the release of the default line or, if that line
// does not contain the distribution, of the newest line that contains it.
func (e *entry) defaultVersion() string {
	if version := e.pin(release.DefaultLine()); version != "" {
		return version
	}
	for _, line := range slices.Backward(release.Offered()) {
		if version := e.pin(line); version != "" {
			return version
		}
	}
	return ""
}

// known returns the releases that users may request, as one string for each range, for example "0.7.0 to 0.7.3".
func (e *entry) known() []string {
	var out []string
	versions := Versions(e.name)
	for i := 0; i < len(versions); {
		last := i
		for last+1 < len(versions) && follows(versions[last], versions[last+1]) {
			last++
		}
		if last == i {
			out = append(out, versions[i])
		} else {
			out = append(out, versions[i]+" to "+versions[last])
		}
		i = last + 1
	}
	return out
}

// follows reports whether next is the patch release after version.
func follows(version, next string) bool {
	dot := strings.LastIndexByte(version, '.')
	patch, err := strconv.Atoi(version[dot+1:])
	return err == nil && next == version[:dot+1]+strconv.Itoa(patch+1)
}

// Known returns the sorted names of the known distributions: those in the catalog that have an offered release, and
// those that the overrides add.
func Known(overrides Overrides) []string {
	var names []string
	for i := range catalog {
		if catalog[i].defaultVersion() != "" {
			names = append(names, catalog[i].name)
		}
	}
	for key := range overrides {
		name, _, _ := strings.Cut(key, "@")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Versions returns, in ascending order, the releases that users may request for a distribution in the catalog. It
// returns nil for any other name.
func Versions(name string) []string {
	e := byName(name)
	if e == nil {
		return nil
	}
	var out []string
	for _, line := range release.Offered() {
		out = append(out, e.versions(line)...)
	}
	return out
}

// UnknownError reports a name, or a name with a version, that is not in the catalog.
type UnknownError struct {
	// Name and Version are the requested values. Version is empty if the name itself is unknown.
	Name, Version string
	// Known lists the available names, or the versions of the name as ranges, for example "0.7.0 to 0.7.3".
	Known []string
}

// Error returns a message that lists the available names or versions.
func (e *UnknownError) Error() string {
	known := strings.Join(e.Known, ", ")
	if e.Version == "" {
		return fmt.Sprintf("unknown distribution %q; known distributions: %s; use one of them, or set an image; "+
			"an administrator can add a name under the key image-overrides in the operator's ConfigMap", e.Name, known)
	}
	return fmt.Sprintf("distribution %q has no version %q; use one of the known versions: %s", e.Name, e.Version, known)
}

// Path returns the path of the spec field that caused an error from Resolve.
func Path(err error) string {
	unknown, ok := errors.AsType[*UnknownError](err)
	_, isRelease := errors.AsType[*release.UnknownError](err)
	switch {
	case ok && unknown.Version == "":
		return "spec.distribution.name"
	case ok, isRelease:
		return "spec.distribution.version"
	default:
		return "spec.distribution"
	}
}

func byName(name string) *entry {
	for i := range catalog {
		if catalog[i].name == name {
			return &catalog[i]
		}
	}
	return nil
}

// find returns the entry for a name and the release for a version. A release is returned unchanged, a line selects its
// pinned release, and an empty version selects the default release. The overrides have only one effect: an error about
// an unknown name also lists their names.
func find(name, version string, overrides Overrides) (*entry, string, error) {
	e := byName(name)
	if e == nil || e.defaultVersion() == "" {
		return nil, "", &UnknownError{Name: name, Known: Known(overrides)}
	}
	if version == "" {
		return e, e.defaultVersion(), nil
	}
	if pin := e.pin(version); pin != "" {
		return e, pin, nil
	}
	if dot := strings.LastIndexByte(version, '.'); dot > 0 && slices.Contains(e.versions(version[:dot]), version) {
		return e, version, nil
	}
	return nil, "", &UnknownError{Name: name, Version: version, Known: e.known()}
}
