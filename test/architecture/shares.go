package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Shared is a place in the code that creates something that all namespaces use together: workers, slots, a rate limit,
// a memory of limited size, or an event handler, which delays the events of all namespaces.
type Shared struct {
	// Code is the package without the folders above it, and the function or the variable, for example "probe.New".
	Code string
	// Total and Each are the arguments for package share: the total, and the share of a namespace. They are empty for
	// other shared things. An argument that is not a number or a constant of the package is an identifier.
	Total, Each string
}

// ofUsers are the packages of programs that a user runs, where there are no other namespaces to protect.
var ofUsers = []string{"internal/cli", "internal/cluster/share"}

// belowLayer matches the part of a path that a package's name in the documentation leaves out.
var belowLayer = regexp.MustCompile(`^internal/(?:cluster/|core/|migrate/|operator/)?`)

// sharedCalls are the functions that create something shared, as the name of the package and a prefix of the function.
var sharedCalls = []string{
	"rate.NewLimiter", "lru.New", "semaphore.New", "workqueue.NewTypedQueue", "workqueue.NewTypedWithConfig",
	"workqueue.NewTypedDelayingQueue", "workqueue.NewTypedRateLimitingQueue", "workqueue.NewTyped[", "workqueue.New(",
	"priorityqueue.New", "share.New", "handler.EnqueueRequestsFrom", "handler.TypedEnqueueRequestsFrom",
	"workqueue.NewDelaying", "workqueue.NewRateLimiting", "workqueue.NewNamed",
}

// sharedTypes are the types whose values are something shared.
var sharedTypes = []string{
	"sync.Pool", "handler.Funcs", "handler.TypedFuncs", "handler.EnqueueRequestForObject", "source.Func",
	"toolscache.ResourceEventHandlerFuncs", "cache.ResourceEventHandlerFuncs", "cache.FilteringResourceEventHandler",
}

// sharedFields are the names of fields that set a number of workers.
var sharedFields = []string{"MaxConcurrentReconciles"}

// ReadShared returns what the namespaces use together, in the order of the files.
func ReadShared(root fs.FS) ([]Shared, error) {
	var found []Shared
	err := fs.WalkDir(root, "internal", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case slices.Contains(testTrees, name), slices.Contains(ofUsers, name), entry.Name() == "testdata":
			return fs.SkipDir
		}
		in, err := sharedIn(root, name)
		found = append(found, in...)
		return err
	})
	return found, err
}

// sharedIn returns what the files of one package create.
func sharedIn(root fs.FS, pkg string) ([]Shared, error) {
	names, err := fs.Glob(root, pkg+"/*.go")
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, parsed)
	}
	finder := finder{
		pkg: belowLayer.ReplaceAllString(pkg, ""), channels: map[string]bool{}, constants: map[string]string{},
	}
	for _, file := range files {
		finder.learn(file)
	}
	for _, file := range files {
		for _, declaration := range file.Decls {
			finder.find(declaration)
		}
	}
	return finder.found, nil
}

// finder finds what the declarations of a package create.
type finder struct {
	pkg       string
	channels  map[string]bool   // the types of the package that are channels
	constants map[string]string // the constants of the package that are numbers
	found     []Shared
}

// learn records the channel types and the constants of a file.
func (f *finder) learn(file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.TypeSpec:
			if _, is := n.Type.(*ast.ChanType); is {
				f.channels[n.Name.Name] = true
			}
		case *ast.ValueSpec:
			for i, value := range n.Values {
				if literal, is := value.(*ast.BasicLit); is && literal.Kind == token.INT {
					f.constants[n.Names[i].Name] = literal.Value
				}
			}
		}
		return true
	})
}

// find records what one declaration creates.
func (f *finder) find(declaration ast.Decl) {
	if function, is := declaration.(*ast.FuncDecl); is {
		f.findIn(function, functionName(function))
		return
	}
	general, is := declaration.(*ast.GenDecl)
	if !is {
		return
	}
	for _, spec := range general.Specs {
		if value, is := spec.(*ast.ValueSpec); is {
			f.findIn(value, value.Names[0].Name)
		}
	}
}

func (f *finder) findIn(node ast.Node, name string) {
	ast.Inspect(node, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CallExpr:
			f.call(n, name)
		case *ast.CompositeLit:
			if slices.Contains(sharedTypes, text(n.Type)) {
				f.add(name)
			}
		case *ast.KeyValueExpr:
			if key, is := n.Key.(*ast.Ident); is && slices.Contains(sharedFields, key.Name) {
				f.add(name)
			}
		}
		return true
	})
}

func (f *finder) call(call *ast.CallExpr, name string) {
	called := text(call.Fun)
	switch {
	case called == "make" && len(call.Args) == 2 && f.isChannel(call.Args[0]):
		f.add(name)
	case strings.HasPrefix(called, "share.New"):
		f.add(name, f.number(call.Args[0]), f.number(call.Args[1]))
	case strings.HasSuffix(called, ".SetLimit"), slices.ContainsFunc(sharedCalls, func(prefix string) bool {
		return strings.HasPrefix(called+"(", prefix) && !strings.Contains(called, "RateLimiter")
	}):
		f.add(name)
	}
}

func (f *finder) isChannel(of ast.Expr) bool {
	if _, is := of.(*ast.ChanType); is {
		return true
	}
	return f.channels[text(of)]
}

// number returns a number, or the value of a constant of the package.
func (f *finder) number(of ast.Expr) string {
	if literal, is := of.(*ast.BasicLit); is {
		return literal.Value
	}
	if value, known := f.constants[text(of)]; known {
		return value
	}
	return text(of)
}

// add records one place. A function that creates several things of the same kind is one place.
func (f *finder) add(name string, numbers ...string) {
	one := Shared{Code: f.pkg + "." + name}
	if len(numbers) == 2 {
		one.Total, one.Each = numbers[0], numbers[1]
	}
	if !slices.Contains(f.found, one) {
		f.found = append(f.found, one)
	}
}

// text returns an identifier, a selector, or the generic function or type in an index expression.
func text(of ast.Expr) string {
	switch e := of.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.IndexExpr:
		return text(e.X) + "["
	case *ast.IndexListExpr:
		return text(e.X) + "["
	case *ast.StarExpr:
		return text(e.X)
	default:
		return ""
	}
}
