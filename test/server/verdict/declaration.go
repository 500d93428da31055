package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// goPackage contains the declarations of a package.
type goPackage struct {
	path, name string
	// foreign means that the package is left out. It still names the types of its results.
	foreign bool
	// declarations are keyed by name. A method is below the name of its type.
	declarations map[string][]declaration
	imports      []string
}

// declaration is a function, a method, a type, a variable or a constant.
type declaration struct {
	text   string
	embeds bool
	// method is the name of the method, if only the package itself can call it.
	method string
	// uses are all names in the declaration. Some of them name local variables or fields, and not other declarations.
	uses []reference
}

// reference is a name in a package.
type reference struct{ path, name string }

// selected is the prefix of a name after a point, which can be the name of a method.
const selected = "."

// reached returns the declarations that names of a package reach in a program with the given packages.
func reached(linked map[string]*goPackage, path string, names []string) iter.Seq2[reference, declaration] {
	var next []reference
	for _, name := range names {
		next = append(next, reference{path, name})
	}
	for path := range linked {
		next = append(next, reference{path, "init"}, reference{path, "_"})
	}
	return func(yield func(reference, declaration) bool) {
		seen, uncalled := map[reference]bool{}, map[reference][]declaration{}
		for ; len(next) > 0; next = next[1:] {
			ref := next[0]
			if seen[ref] || linked[ref.path] == nil {
				continue
			}
			seen[ref] = true
			for _, found := range slices.Concat(linked[ref.path].declarations[ref.name], uncalled[ref]) {
				if call := (reference{ref.path, selected + found.method}); found.method != "" && !seen[call] {
					uncalled[call] = append(uncalled[call], found)
					continue
				}
				if !yield(ref, found) {
					return
				}
				next = append(next, found.uses...)
			}
		}
	}
}

// source is a file of a package.
type source struct {
	*goPackage
	set     *token.FileSet
	content []byte
	// directives are the lines that are instructions for the compiler.
	directives string
	// imported maps the name of an imported package to its path.
	imported map[string]string
}

// add adds the declarations of a file.
func (p *goPackage) add(c *Code, content []byte) error {
	s := source{goPackage: p, set: token.NewFileSet(), content: content}
	for line := range bytes.Lines(content) {
		if line = bytes.TrimLeft(line, " \t"); bytes.HasPrefix(line, []byte("//go:")) {
			s.directives += string(line)
		}
	}
	file, err := parser.ParseFile(s.set, "", content, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("read Go: %w", err)
	}
	p.name = file.Name.Name
	if s.imported, err = p.importsOf(c, file); err != nil {
		return err
	}
	for _, node := range file.Decls {
		switch node := node.(type) {
		case *ast.FuncDecl:
			s.declareFunc(node)
		case *ast.GenDecl:
			s.declareEach(node)
		}
	}
	return nil
}

// importsOf returns the packages of the module that a file imports, keyed by their names in the file.
func (p *goPackage) importsOf(c *Code, file *ast.File) (map[string]string, error) {
	imported := map[string]string{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("read import: %w", err)
		}
		path, ok := strings.CutPrefix(path, c.module+"/")
		if !ok {
			continue
		}
		name := filepath.Base(path)
		if !p.foreign {
			found, err := c.imported(path)
			if err != nil {
				return nil, err
			}
			p.imports, name = append(p.imports, path), found.name
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			return nil, errors.New("an import without a name hides what the file uses")
		}
		imported[name] = path
	}
	return imported, nil
}

// declareFunc adds a function or a method.
func (s *source) declareFunc(node *ast.FuncDecl) {
	d := s.declaration(node)
	if s.foreign {
		d = s.declaration(node.Type)
	}
	name := node.Name.Name
	if node.Recv != nil {
		if !node.Name.IsExported() {
			d.method = name
		}
		// The type can have parameters.
		name = strings.TrimLeft(s.between(node.Recv.List[0].Type), "*(")
		name, _, _ = strings.Cut(name, "[")
	}
	s.declarations[name] = append(s.declarations[name], d)
}

// declareEach adds the parts of a declaration in parentheses. Constants that depend on their place are one part.
func (s *source) declareEach(node *ast.GenDecl) {
	for _, spec := range node.Specs {
		var part ast.Node = spec
		if node.Tok == token.CONST && byPlace(node) {
			part = node
		}
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.declarations[spec.Name.Name] = append(s.declarations[spec.Name.Name], s.declaration(part))
		case *ast.ValueSpec:
			if s.foreign && spec.Type != nil {
				part = spec.Type
			}
			for _, name := range spec.Names {
				s.declarations[name.Name] = append(s.declarations[name.Name], s.declaration(part))
			}
		}
	}
}

// byPlace reports whether the values of constants can depend on their place.
func byPlace(node *ast.GenDecl) bool {
	found := false
	ast.Inspect(node, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ValueSpec:
			found = found || len(node.Values) == 0
		case *ast.Ident:
			found = found || node.Name == "iota"
		}
		return true
	})
	return found
}

// declaration returns a declaration with the text and the names of a node.
func (s *source) declaration(node ast.Node) declaration {
	d := declaration{embeds: strings.Contains(s.directives, "//go:embed ")}
	if !s.foreign {
		d.text = s.directives + s.text(node)
	}
	var look func(node ast.Node) bool
	look = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if of, ok := node.X.(*ast.Ident); ok && s.imported[of.Name] != "" {
				d.uses = append(d.uses, reference{s.imported[of.Name], node.Sel.Name})
			}
			d.uses = append(d.uses, reference{s.path, selected + node.Sel.Name})
			ast.Inspect(node.X, look)
			return false
		case *ast.Ident:
			d.uses = append(d.uses, reference{s.path, node.Name})
		}
		return true
	}
	ast.Inspect(node, look)
	return d
}

// between returns the source of a node.
func (s *source) between(node ast.Node) string {
	return string(s.content[s.set.Position(node.Pos()).Offset:s.set.Position(node.End()).Offset])
}

// text returns the source of a node without comments and without its layout.
func (s *source) text(node ast.Node) string {
	part := []byte(s.between(node))
	var text strings.Builder
	var words scanner.Scanner
	words.Init(token.NewFileSet().AddFile("", -1, len(part)), part, nil, 0)
	for {
		_, word, literal := words.Scan()
		if word == token.EOF {
			return text.String()
		}
		text.WriteString(word.String() + " " + literal + "\n")
	}
}
