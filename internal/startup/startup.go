package startup

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"sync"
)

//go:embed script/*.py
var script embed.FS

// Files returns the program and its data by file name. All files belong in one directory, which may be read-only. The
// file to run is names.RegistryProgram: `python DIRECTORY/registry.py --config FILE --earlier TEXT`. The content is the same for every stack, and always the same bytes for one build of the operator.
func Files() map[string]string {
	return maps.Clone(files())
}

var files = sync.OnceValue(func() map[string]string {
	out := map[string]string{releasesFile: string(releases())}
	names, err := fs.Glob(script, "script/*.py")
	if err != nil {
		panic(fmt.Sprintf("startup: the program is not embedded: %v", err)) // the pattern is right
	}
	for _, name := range names {
		text, err := script.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("startup: the program is not embedded: %v", err)) // cannot happen in a program that was built
		}
		out[path.Base(name)] = string(text)
	}
	return out
})
