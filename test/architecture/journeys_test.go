package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const maxStations = 10

var station = regexp.MustCompile("`([a-z0-9]+)\\.([A-Za-z.]+)`")

// The functions of each journey in docs/development/architecture.md exist, and each journey is short. In Rules, the row
// for each function's package is the row for the previous function's package, or a row above it.
func TestJourneys(t *testing.T) {
	_, section, found := strings.Cut(read(t, "docs/development/architecture.md"), "\n## Journeys\n")
	if !found {
		t.Fatal("docs/development/architecture.md has no section Journeys")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	declared := declarations(t)
	journeys := 0
	for line := range strings.SplitSeq(section, "\n") {
		name, text, is := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		stations := station.FindAllStringSubmatch(text, -1)
		if !is || len(stations) == 0 {
			continue
		}
		journeys++
		if len(stations) > maxStations {
			t.Errorf("%s: %d functions, want at most %d", name, len(stations), maxStations)
		}
		rank := len(Rules)
		for _, s := range stations {
			folder, known := declared[s[1]+"."+s[2]]
			if !known {
				t.Errorf("%s: there is no declaration %s.%s", name, s[1], s[2])
				continue
			}
			now := rankOf(folder)
			if now > rank {
				t.Errorf("%s: %s.%s is in a package above the package of the previous function", name, s[1], s[2])
			}
			rank = now
		}
	}
	if journeys != 5 {
		t.Errorf("%d journeys, want 5", journeys)
	}
}

// rankOf returns the position of a package's layer in the table of dependencies.
func rankOf(folder string) int {
	layer := strings.Join(strings.Split(folder, "/")[:2], "/")
	return slices.IndexFunc(Rules, func(r Rule) bool { return r.Path == layer+"/..." })
}

// declarations maps each declaration below internal/, as package.Name or package.Type.Method, to the folder of its
// package.
func declarations(t *testing.T) map[string]string {
	t.Helper()
	declared := map[string]string{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, "internal", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			for _, one := range namesOf(declaration) {
				declared[file.Name.Name+"."+one] = path.Dir(name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}

func namesOf(declaration ast.Decl) []string {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		receiver := d.Recv.List[0].Type
		if pointer, is := receiver.(*ast.StarExpr); is {
			receiver = pointer.X
		}
		if named, is := receiver.(*ast.Ident); is {
			return []string{named.Name + "." + d.Name.Name}
		}
	case *ast.GenDecl:
		var found []string
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				found = append(found, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					found = append(found, name.Name)
				}
			}
		}
		return found
	}
	return nil
}
