package stackconfig

import (
	"path"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// PathVariables are the variables of a distribution's own configuration whose
// default lies below the server's data directory, each set to the same place
// below mountPath: nothing is written beside the volume. A
// distribution that the release does not ship has none; PathsIn finds them in its
// configuration.
func PathVariables(rel *release.Release, distribution, mountPath string) []draft.EnvVar {
	known, ok := rel.Distribution(distribution)
	if !ok {
		return nil
	}
	variables := make([]draft.EnvVar, 0, len(known.PathVariables))
	for _, v := range known.PathVariables {
		variables = append(variables, draft.EnvVar{Name: v.Name, Value: path.Join(mountPath, v.Rest)})
	}
	return variables
}

// pathReference is a variable whose default lies below a data directory of the server, and where.
type pathReference struct{ variable, directory, rest string }

// pathReferences are those of a configuration.
func pathReferences(config []byte) []pathReference {
	var found []pathReference
	for reference := range envref.Server.All(string(config)) {
		home, below := strings.CutPrefix(reference.Text, "~/")
		if !below || reference.Operator != envref.Default {
			continue
		}
		for _, directory := range dataDirectories {
			if rest, is := strings.CutPrefix(home, directory); is {
				found = append(found, pathReference{variable: reference.Name, directory: directory, rest: rest})
			}
		}
	}
	return found
}

// PathsIn is PathVariables for any configuration: it finds them in the text. Of
// two defaults for one variable the first in the text counts.
func PathsIn(config []byte, mountPath string) []draft.EnvVar {
	var variables []draft.EnvVar
	for _, found := range pathReferences(config) {
		if !slices.ContainsFunc(variables, func(v draft.EnvVar) bool { return v.Name == found.variable }) {
			variables = append(variables, draft.EnvVar{Name: found.variable, Value: path.Join(mountPath, found.rest)})
		}
	}
	slices.SortFunc(variables, func(a, b draft.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return variables
}

// PathsBeside are those of PathVariables and PathsIn that a volume for the server's
// data directory does not hold: the directory was renamed with release 0.8, and the
// default of a variable lies below the one while the volume is mounted as the other.
// Set to these values they find what earlier releases left on the volume.
func PathsBeside(config []byte, rel *release.Release, distribution, mountPath string) []draft.EnvVar {
	mounted := path.Base(mountPath)
	if !slices.Contains(dataDirectories, mounted) {
		return nil // nobody knows which directory it stands for
	}
	var variables []draft.EnvVar
	add := func(found draft.EnvVar) {
		if !slices.ContainsFunc(variables, func(v draft.EnvVar) bool { return v.Name == found.Name }) {
			variables = append(variables, found)
		}
	}
	for _, found := range pathReferences(config) {
		if found.directory != mounted {
			add(draft.EnvVar{Name: found.variable, Value: path.Join(mountPath, found.rest)})
		}
	}
	if path.Base(rel.Runtime.DataDir) != mounted {
		for _, known := range PathVariables(rel, distribution, mountPath) {
			add(known)
		}
	}
	slices.SortFunc(variables, func(a, b draft.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return variables
}

// dataDirectories are the names that the server's data directory has had.
var dataDirectories = []string{".llama", ".ogx"}
