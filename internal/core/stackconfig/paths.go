package stackconfig

import (
	"path"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// PathVariables returns the variables of a distribution's own configuration whose default is below the server's data
// directory. In the value of each variable, mountPath replaces the data directory, so that all data is on the volume.
// PathVariables returns nothing for a distribution that the release does not ship. For the configuration of such a
// distribution, use PathsIn.
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

// pathReference holds a variable whose default is a path below a data directory of the server, and the parts of that
// path.
type pathReference struct{ variable, directory, rest string }

// pathReferences returns the references of a configuration.
func pathReferences(config []byte) []pathReference {
	var found []pathReference
	for reference := range envref.Server.All(string(config)) {
		home, below := strings.CutPrefix(reference.Text, "~/")
		if !below || reference.Operator != envref.Default {
			continue
		}
		for _, directory := range dataDirectories {
			if rest, is := strings.CutPrefix(home, directory); is && (rest == "" || rest[0] == '/') {
				found = append(found, pathReference{variable: reference.Name, directory: directory, rest: rest})
			}
		}
	}
	return found
}

// PathsIn returns the same kind of variables as PathVariables, for any configuration. It searches the text of the
// configuration. If a variable has several defaults, PathsIn uses the first one in the text.
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

// PathsBeside returns only those variables from PathVariables and PathsIn whose default is below another data directory
// than the one at root, if the path below root is on a volume. The function mounted reports whether a path is on a
// volume. Release 0.8 renamed the server's data directory, so the default of a variable can be below one directory
// while the volume is mounted at, or in, the other (server fact 41). With the returned values, the server finds the
// data of earlier releases.
func PathsBeside(
	config []byte, rel *release.Release, distribution, root string, mounted func(path string) bool,
) []draft.EnvVar {
	var variables []draft.EnvVar
	add := func(found draft.EnvVar) {
		isKnown := slices.ContainsFunc(variables, func(v draft.EnvVar) bool { return v.Name == found.Name })
		if mounted(found.Value) && !isKnown {
			variables = append(variables, found)
		}
	}
	for _, found := range pathReferences(config) {
		if found.directory != path.Base(root) {
			add(draft.EnvVar{Name: found.variable, Value: path.Join(root, found.rest)})
		}
	}
	if path.Base(rel.Runtime.DataDir) != path.Base(root) {
		for _, known := range PathVariables(rel, distribution, root) {
			add(known)
		}
	}
	slices.SortFunc(variables, func(a, b draft.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return variables
}

// DataRoot returns the part of a path up to the server's data directory: /root/.llama for
// /root/.llama/distributions/starter. It returns an empty string if the path contains no such directory.
func DataRoot(place string) string {
	names := strings.Split(path.Clean(place), "/")
	at := slices.IndexFunc(names, func(name string) bool { return slices.Contains(dataDirectories, name) })
	return strings.Join(names[:at+1], "/")
}

// dataDirectories are the names of the server's data directory in all releases.
var dataDirectories = []string{".llama", ".ogx"}
