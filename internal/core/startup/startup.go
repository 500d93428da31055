package startup

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"sync"
)

// releasesFile is the name of the file with the facts for each release line. hack/release-data writes the file from the
// release data.
const releasesFile = "releases.json"

var (
	//go:embed script/*.py
	script embed.FS
	//go:embed releases.json
	releases string
)

// Files returns the program that updates the registry, and its data, keyed by file name. All files must be in one
// directory, which can be read-only. The file to run is names.RegistryProgram: `python DIRECTORY/registry.py --config
// FILE`. A given build of the operator returns the same content for every stack.
func Files() map[string]string {
	return maps.Clone(registryFiles())
}

// ExternalFiles returns the program that installs external providers, and its data, keyed by file name. The file to run
// is names.ExternalProgram: `python DIRECTORY/external_providers.py --config FILE --directory DIR --providers JSON`.
// Both programs can be in one directory.
func ExternalFiles() map[string]string {
	return maps.Clone(externalFiles())
}

var (
	registryFiles = sync.OnceValue(func() map[string]string { return files("registry.py", "startup_*.py") })
	externalFiles = sync.OnceValue(func() map[string]string { return files("external_*.py") })
)

// files returns the files of the program that match the patterns, with the facts for each release line.
func files(patterns ...string) map[string]string {
	out := map[string]string{releasesFile: releases}
	for _, pattern := range patterns {
		found, err := fs.Glob(script, "script/"+pattern)
		if err != nil {
			panic(fmt.Sprintf("startup: the program is not embedded: %v", err)) // the patterns are valid
		}
		for _, name := range found {
			text, err := script.ReadFile(name)
			if err != nil {
				panic(fmt.Sprintf("startup: the program is not embedded: %v", err)) // Glob returns only embedded files
			}
			out[path.Base(name)] = string(text)
		}
	}
	return out
}
