package stackconfig

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// PathVariables are the variables of a distribution's own configuration whose
// default lies below the server's data directory, each set to the same place
// below mountPath (API.md 5): nothing is written beside the volume. A
// distribution that the release does not ship has none; PathsIn finds them in its
// configuration.
func PathVariables(rel *release.Release, distribution, mountPath string) []EnvVar {
	known, ok := rel.Distribution(distribution)
	if !ok {
		return nil
	}
	variables := make([]EnvVar, 0, len(known.PathVariables))
	for _, v := range known.PathVariables {
		variables = append(variables, EnvVar{Name: v.Name, Value: path.Join(mountPath, v.Rest)})
	}
	return variables
}

// pathReference is a reference whose default lies below a data directory of the
// server: ~/.llama, from 0.8 on ~/.ogx.
var pathReference = regexp.MustCompile(`\$\{env\.([A-Z0-9_]+):=~/(\.(?:llama|ogx))/?([^}]*)\}`)

// PathsIn is PathVariables for any configuration: it finds them in the text. Of
// two defaults for one variable the first in the text counts.
func PathsIn(config []byte, mountPath string) []EnvVar {
	var variables []EnvVar
	for _, match := range pathReference.FindAllSubmatch(config, -1) {
		name := string(match[1])
		if !slices.ContainsFunc(variables, func(v EnvVar) bool { return v.Name == name }) {
			variables = append(variables, EnvVar{Name: name, Value: path.Join(mountPath, string(match[3]))})
		}
	}
	slices.SortFunc(variables, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return variables
}

// PathsBeside are those of PathVariables and PathsIn that a volume for the server's
// data directory does not hold: the directory was renamed with release 0.8, and the
// default of a variable lies below the one while the volume is mounted as the other.
// Set to these values they find what earlier releases left on the volume.
func PathsBeside(config []byte, rel *release.Release, distribution, mountPath string) []EnvVar {
	mounted := path.Base(mountPath)
	if !dataDirectories[mounted] {
		return nil // nobody knows which directory it stands for
	}
	var variables []EnvVar
	add := func(found EnvVar) {
		if !slices.ContainsFunc(variables, func(v EnvVar) bool { return v.Name == found.Name }) {
			variables = append(variables, found)
		}
	}
	for _, match := range pathReference.FindAllSubmatch(config, -1) {
		if string(match[2]) != mounted {
			add(EnvVar{Name: string(match[1]), Value: path.Join(mountPath, string(match[3]))})
		}
	}
	if path.Base(rel.Runtime.DataDir) != mounted {
		for _, known := range PathVariables(rel, distribution, mountPath) {
			add(known)
		}
	}
	slices.SortFunc(variables, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return variables
}

// dataDirectories are the names that the server's data directory has had.
var dataDirectories = map[string]bool{".llama": true, ".ogx": true}
