package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// These are the maximum lengths in lines. A package with subpackages may exceed MaxPackageLines, but no package may
// have more code, which excludes comments and empty lines, than MaxPackageCode, or import more packages of this module
// than MaxImports.
const (
	MaxFunctionLines = 80
	MaxFileLines     = 400
	MaxPackageLines  = 2500
	MaxPackageCode   = 2750
	MaxImports       = 20
)

// wide are the packages that may import more than MaxImports packages, because they put the others together.
var wide = map[string]int{
	"internal/cli":                 21, // one for each subcommand
	"internal/core/plan":           21, // turns everything that is known of a stack into its objects
	"internal/core/dryrun":         23, // does in one package, without a cluster, what the packages of the operator do
	"internal/operator/controller": 25, // the steps, the packages that do them, and those with which it creates them
}

const (
	module     = "github.com/llamastack/llama-stack-k8s-operator"
	modulePath = module + "/"
)

// productTrees are the folders of the product's code. They contain the folders in testTrees, which are not part of the
// product.
var productTrees = []string{"api", "cmd", "internal"}

// testTrees are the folders in productTrees that only tests import.
var testTrees = []string{"internal/testutil", "internal/operator/controller/controllertest"}

// File is one Go file of the product that is neither a test nor generated.
type File struct {
	// Path is relative to the root of the repository, with slashes.
	Path  string
	Lines int
	// Code is the number of lines with a token that is not a comment.
	Code int
	// Imports are the packages of this module that the file imports.
	Imports []string
	// Functions are in the order of the file.
	Functions []Function
	// Uncommented are the exported types, functions, methods, variables and constants without a comment. Declarations
	// in one block may share one comment.
	Uncommented []string
}

// Package returns the path of the package that the file is in.
func (f *File) Package() string { return path.Dir(f.Path) }

// Function is one declared function or method.
type Function struct {
	// Name is the name of the function. The name of a method begins with its type, for example "File.Package".
	Name string
	// Lines is the number of lines from `func` to the closing brace.
	Lines int
}

// ReadProduct reads the product's files below the root of the repository, and returns them sorted by path.
func ReadProduct(root fs.FS) ([]File, error) {
	var files []File
	for _, tree := range productTrees {
		err := fs.WalkDir(root, tree, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case slices.Contains(testTrees, name) || entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			data, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			file, generated, err := readFile(name, data)
			if !generated {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func readFile(name string, data []byte) (file File, generated bool, err error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return File{}, false, err
	}
	file = File{Path: name, Lines: bytes.Count(data, []byte("\n")), Code: codeLines(data)}
	for _, spec := range parsed.Imports {
		if imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), modulePath); ours {
			file.Imports = append(file.Imports, imported)
		}
	}
	for _, declaration := range parsed.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			lines := set.Position(function.End()).Line - set.Position(function.Pos()).Line + 1
			file.Functions = append(file.Functions, Function{functionName(function), lines})
		}
		file.Uncommented = append(file.Uncommented, uncommented(declaration)...)
	}
	return file, ast.IsGenerated(parsed), nil
}

// codeLines returns the number of lines with a token that is not a comment.
func codeLines(data []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(data))
	var tokens scanner.Scanner
	tokens.Init(file, data, nil, 0)
	lines := map[int]bool{}
	for {
		at, kind, text := tokens.Scan()
		if kind == token.EOF {
			return len(lines)
		}
		if kind == token.SEMICOLON && text == "\n" { // inserted at the end of a line
			continue
		}
		first := file.Line(at)
		for line := first; line <= first+strings.Count(text, "\n"); line++ {
			lines[line] = true
		}
	}
}

func functionName(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return function.Name.Name
	}
	return receiver(function.Recv.List[0].Type) + "." + function.Name.Name
}

// receiver returns the name of a method's receiver type, without the pointer and the type parameters.
func receiver(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}

func uncommented(declaration ast.Decl) []string {
	var names []string
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		of := d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))
		if of && d.Name.IsExported() && d.Doc == nil {
			names = append(names, functionName(d))
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return nil
		}
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if s.Doc == nil && s.Comment == nil && name.IsExported() {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// PackageCode returns the number of lines of code in the files of each package, without its subpackages.
func PackageCode(files []File) map[string]int {
	code := make(map[string]int)
	for i := range files {
		code[files[i].Package()] += files[i].Code
	}
	return code
}

// FanOut returns the number of packages of this module that each package imports.
func FanOut(files []File) map[string]int {
	imports := make(map[string]map[string]bool)
	for i := range files {
		pkg := files[i].Package()
		if imports[pkg] == nil {
			imports[pkg] = make(map[string]bool)
		}
		for _, imported := range files[i].Imports {
			imports[pkg][imported] = true
		}
	}
	counts := make(map[string]int, len(imports))
	for pkg, imported := range imports {
		counts[pkg] = len(imported)
	}
	return counts
}

// PackageLines returns the number of lines in the files of each package, without its subpackages.
func PackageLines(files []File) map[string]int {
	lines := make(map[string]int)
	for i := range files {
		lines[files[i].Package()] += files[i].Lines
	}
	return lines
}

// hasSubpackage reports whether there is a package below pkg.
func hasSubpackage(lines map[string]int, pkg string) bool {
	for other := range lines {
		if strings.HasPrefix(other, pkg+"/") {
			return true
		}
	}
	return false
}

// FunctionLines returns the lengths of all functions, ascending.
func FunctionLines(files []File) []int {
	var lengths []int
	for i := range files {
		for _, function := range files[i].Functions {
			lengths = append(lengths, function.Lines)
		}
	}
	slices.Sort(lengths)
	return lengths
}
