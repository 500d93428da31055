package convert_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// fieldPaths adds the paths of all fields below a type, except those inside Kubernetes types.
func fieldPaths(typ reflect.Type, at string, into map[string]bool) {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, typ.Kind()) {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || strings.HasPrefix(typ.PkgPath(), "k8s.io/") {
		return
	}
	fields := typecheck.FieldsOf(typ)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		into[at+"."+name] = true
		fieldPaths(fields[name], at+"."+name, into)
	}
}

// For every field, OlderPaths returns the name of a v1alpha1 field, or states that the field belongs to v1alpha2.
func TestOlderPathsOfEveryField(t *testing.T) {
	hub, older := map[string]bool{}, map[string]bool{}
	fieldPaths(reflect.TypeFor[v1alpha2.LlamaStackDistributionSpec](), "spec", hub)
	fieldPaths(reflect.TypeFor[v1alpha1.LlamaStackDistributionSpec](), "spec", older)
	named := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(hub)) {
		got := convert.OlderPaths(path)
		switch {
		case older[got]:
			named[got] = true
		case got != path+" of v1alpha2":
			t.Errorf("%s: %q is not a field of v1alpha1", path, got)
		}
		if bare, ok := strings.CutPrefix(path, "spec."); ok && strings.HasPrefix(bare, "workload.") {
			if wanted := strings.TrimPrefix(got, "spec."); convert.OlderPaths(bare) != wanted {
				t.Errorf("%s: %q, want %q", bare, convert.OlderPaths(bare), wanted)
			}
		}
	}
	// Conversion stores a nested field without a counterpart in the hub as an annotation. The loop does not check fields
	// at the first three levels.
	for _, path := range slices.Sorted(maps.Keys(older)) {
		if parts := strings.Split(path, "."); !named[path] && len(parts) > 3 && !slices.Contains(annotated, path) {
			t.Errorf("%s: v1alpha2 has no field with this name", path)
		}
	}
}

var annotated = []string{
	"spec.server.containerSpec.name", "spec.server.tlsConfig.caBundle.configMapNamespace", "spec.server.userConfig.configMapNamespace",
}

// plainOfHub matches the names of fields that only v1alpha2 has, except names that are English words.
var plainOfHub = regexp.MustCompile(`(?:^|[^.\w])(accessModes|baseConfig|envFrom|imagePullPolicy|imagePullSecrets|ingressClassName|overrideConfig|` +
	`podAnnotations|podLabels|removeSettings|retainOnDelete|secretEnv|storageClassName|targetCPUUtilization|targetMemoryUtilization|tlsSecretName)\b`)

// OlderPaths recognizes every field name that plainOfHub matches in the messages of the code in internal/.
func TestMessagesNameFieldsThatOlderPathsSees(t *testing.T) {
	sentences := 0
	err := filepath.WalkDir("../..", func(file string, entry fs.DirEntry, err error) error {
		// The strings with spaces in redact and suggest are lists of names.
		if entry.IsDir() && slices.Contains([]string{"testutil", "redact", "suggest"}, entry.Name()) {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || !strings.Contains(literal.Value, " ") {
				return true
			}
			sentences++
			older := convert.OlderPaths(literal.Value)
			for _, at := range plainOfHub.FindAllStringIndex(older, -1) {
				if !strings.HasPrefix(older[at[1]:], " of v1alpha2") {
					t.Errorf("%s: write spec.… in full: %s", file, literal.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || sentences < 1000 {
		t.Errorf("%d sentences, error %v", sentences, err)
	}
}
