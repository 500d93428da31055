package external

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Image contains the files of an image below /lls-provider, keyed by path. A value that begins with linkTo creates a
// symbolic link.
type Image map[string]string

const linkTo = "link to "

// Link returns the value for a symbolic link in an Image.
func Link(target string) string { return linkTo + target }

// Spec contains the values in the metadata file of an image.
type Spec struct {
	API, Type, Module string
	Wheel             string
	Others            []string
}

// SpecFile is the name of the metadata file.
const SpecFile = "lls-provider-spec.yaml"

// YAML returns the contents of the metadata file.
func (s Spec) YAML() string {
	text := fmt.Sprintf(`apiVersion: llamastack.io/v1alpha1
kind: ProviderPackage
metadata:
  name: acme
  version: 1.0
  vendor: acme
spec:
  packageName: %s
  providerType: %s
  api: %s
`, s.Module, s.Type, s.API)
	if s.Wheel != "" {
		text += "  wheelPath: " + s.Wheel + "\n"
	}
	if len(s.Others) > 0 {
		text += "  dependencyWheels: [" + strings.Join(s.Others, ", ") + "]\n"
	}
	return text
}

// New returns an image with a metadata file and wheels.
func New(spec Spec, wheels ...Wheel) Image {
	image := Image{SpecFile: spec.YAML()}
	for _, wheel := range wheels {
		image[wheel.Path()] = wheel.Content()
	}
	return image
}

// With returns the image with one added or replaced file.
func (i Image) With(path, content string) Image {
	changed := maps.Clone(i)
	changed[path] = content
	return changed
}

// Write writes the image's files to the directory to which its init container would copy them.
func (i Image) Write(dir string) error {
	for _, path := range slices.Sorted(maps.Keys(i)) {
		place := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(place), 0o750); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
		var err error
		if target, isLink := strings.CutPrefix(i[path], linkTo); isLink {
			err = os.Symlink(target, place)
		} else {
			err = os.WriteFile(place, []byte(i[path]), 0o600)
		}
		if err != nil {
			return fmt.Errorf("write %q: %w", path, err)
		}
	}
	return nil
}

//go:embed provider/*.py
var sources embed.FS

// Source returns the contents of a file of the provider that answers chat requests.
func Source(name string) string {
	text, err := sources.ReadFile("provider/" + name)
	if err != nil {
		panic(fmt.Sprintf("external: the provider is not embedded: %v", err)) // the build embeds the provider
	}
	return string(text)
}

// These are the type and the module of the provider that answers chat requests.
const (
	EchoType   = "remote::acme-echo"
	EchoModule = "acme.echo"
)

// EchoWheel returns the wheel of the provider that answers chat requests.
func EchoWheel() Wheel {
	return Wheel{
		Name: "acme-echo", Version: "1.0", Python: ">=3.10",
		Requires: []string{"acme-words>=2", "pydantic", `nothing; extra == "dev"`},
		Files: map[string]string{
			"acme/echo/__init__.py": Source("__init__.py"),
			"acme/echo/provider.py": Source("provider.py"),
		},
	}
}

// Words returns the wheel on which EchoWheel depends.
func Words() Wheel {
	return Wheel{Name: "acme-words", Version: "2.1", Files: map[string]string{"acme_words.py": "WORD = \"world\"\n"}}
}

// EchoSpec returns the metadata of the provider that answers chat requests.
func EchoSpec() Spec {
	return Spec{API: "inference", Type: EchoType, Module: EchoModule, Wheel: EchoWheel().Path()}
}

// Echo returns the image of the provider that answers chat requests.
func Echo() Image { return New(EchoSpec(), EchoWheel(), Words()) }
