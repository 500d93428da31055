package olm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
)

const root = "../.."

// generate writes the bundle and the catalog from the manifest that `make manifests` writes.
func generate(t *testing.T) string {
	t.Helper()
	manifest, err := filepath.Abs(filepath.Join(root, "dist/install.yaml"))
	if err == nil {
		_, err = os.ReadFile(manifest) // go test runs the test again after the manifest has changed
	}
	if err != nil {
		t.Fatalf("run `make manifests` first: %v", err)
	}
	folder := t.TempDir()
	command := exec.CommandContext(t.Context(), "go", "run", "./hack/olm", "-version=v0.10.0",
		"-manifest="+manifest, folder)
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("write the bundle: %v\n%s", err, output)
	}
	return folder
}

// validators are those of `operator-sdk bundle validate --select-optional suite=operatorframework`, and the checks of
// objects. The others are deprecated, or pull images.
var validators = interfaces.Validators{
	validation.ClusterServiceVersionValidator, validation.CustomResourceDefinitionValidator, validation.BundleValidator,
	validation.OperatorHubV2Validator, validation.StandardCategoriesValidator, validation.StandardCapabilitiesValidator,
	validation.ObjectValidator, validation.AlphaDeprecatedAPIsValidator, validation.GoodPracticesValidator,
}

// accepted are parts of the warnings that stay.
var accepted = []string{
	"contains permissions to create CRD", // The operator patches only its own definition, and creates none.
	"removed in v1.25. ",                 // The rules of roles do not name versions, so they also grant removed ones.
}

func TestBundle(t *testing.T) {
	bundle, err := manifests.GetBundleFromDir(filepath.Join(generate(t), "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		for _, found := range result.Errors {
			t.Errorf("%s: %v", result.Name, found)
		}
		for _, found := range result.Warnings {
			isPart := func(part string) bool { return strings.Contains(found.Detail, part) }
			if !slices.ContainsFunc(accepted, isPart) {
				t.Errorf("%s: %v", result.Name, found)
			}
		}
	}
}

// TestCatalog checks that the catalog offers the bundle to a subscription of every release of the operator for
// v1alpha1, and describes it as `opm render` would.
func TestCatalog(t *testing.T) {
	folder := generate(t)
	bundle, err := manifests.GetBundleFromDir(filepath.Join(folder, "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := declcfg.LoadFS(t.Context(), os.DirFS(filepath.Join(folder, "catalog")))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := declcfg.ConvertToModel(*config)
	if err != nil {
		t.Fatal(err)
	}
	pkg := catalog[bundle.Package]
	if pkg == nil || pkg.DefaultChannel == nil || pkg.DefaultChannel.Name != bundle.DefaultChannel {
		t.Fatalf("the catalog does not have the package %q with the channel %q", bundle.Package, bundle.DefaultChannel)
	}
	head, err := pkg.DefaultChannel.Head()
	if err != nil {
		t.Fatal(err)
	}
	if head.Name != bundle.CSV.Name || head.Replaces != bundle.CSV.Spec.Replaces ||
		head.SkipRange != bundle.CSV.Annotations["olm.skipRange"] {
		t.Errorf("the channel has the bundle %s, which replaces %s and %s", head.Name, head.Replaces, head.SkipRange)
	}
	skips := semver.MustParseRange(head.SkipRange)
	for release, want := range map[string]bool{"0.1.0": true, "0.9.0": true, "0.10.0": false} {
		if got := skips(semver.MustParse(release)); got != want {
			t.Errorf("the bundle replaces release %s: %t, want %t", release, got, want)
		}
	}
	want, err := property.Parse([]property.Property{property.MustBuildCSVMetadata(*bundle.CSV)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := property.Parse(config.Bundles[0].Properties)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.CSVMetadatas, got.CSVMetadatas); diff != "" {
		t.Errorf("metadata (-of opm +of the catalog):\n%s", diff)
	}
	if len(got.GVKs) != len(bundle.CSV.Spec.CustomResourceDefinitions.Owned) {
		t.Errorf("the catalog offers %v", got.GVKs)
	}
}
