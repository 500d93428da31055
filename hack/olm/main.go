package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"
)

const (
	// packageName is the name of the package in catalogs. The operator for v1alpha1 has the same name.
	packageName = "llama-stack-k8s-operator"
	// channel is the only channel.
	channel = "stable"
	// firstOlder and lastOlder are the first and the last release of the operator for v1alpha1.
	firstOlder, lastOlder = "0.1.0", "0.9.0"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "olm:", err)
		os.Exit(1)
	}
}

// options are the command-line options.
type options struct {
	version, manifest, image, replaces, folder string
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("olm", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.version, "version", "", "version of the bundle, such as v0.10.0")
	flags.StringVar(&o.manifest, "manifest", "dist/install.yaml", "`file` with the objects of config/default")
	flags.StringVar(&o.image, "image", "ghcr.io/llamastack/"+packageName+"-bundle",
		"`repository` of the bundle's image, to which the catalog refers")
	flags.StringVar(&o.replaces, "replaces", packageName+".v"+lastOlder, "`name` of the bundle that this one replaces")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() != 1 {
		return nil, errors.New("specify one folder to write")
	}
	o.folder, o.version = flags.Arg(0), strings.TrimPrefix(o.version, "v")
	this, err := version.ParseSemantic(o.version)
	if err != nil {
		return nil, fmt.Errorf("-version: %w; set a version such as v0.10.0", err)
	}
	if !version.MustParseSemantic(lastOlder).LessThan(this) {
		return nil, fmt.Errorf("-version: %s is not newer than %s, the last release of the operator for v1alpha1, which has "+
			"the same package name", o.version, lastOlder)
	}
	return o, nil
}

// run writes the bundle and the catalog into a folder, in place of earlier ones.
func run(args []string, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	manifest, err := os.ReadFile(o.manifest)
	if err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	made, err := convert(manifest, o)
	if err != nil {
		return fmt.Errorf("convert %s: %w", o.manifest, err)
	}
	files := map[string][]byte{
		"bundle/metadata/annotations.yaml":         document(map[string]any{"annotations": labels()}),
		"catalog/" + packageName + "/catalog.yaml": catalog(made, o),
	}
	files["bundle.Dockerfile"] = dockerfile(labels(), "bundle/manifests /manifests/", "bundle/metadata /metadata/")
	files["catalog.Dockerfile"] = dockerfile(map[string]any{
		"operators.operatorframework.io.index.configs.v1": "/configs",
	}, "catalog /configs/")
	for _, object := range made.objects() {
		files["bundle/manifests/"+object.fileName()] = document(object)
	}
	for _, earlier := range []string{"bundle", "catalog"} {
		if err := os.RemoveAll(filepath.Join(o.folder, earlier)); err != nil {
			return fmt.Errorf("remove the earlier files: %w", err)
		}
	}
	for name, content := range files {
		path := filepath.Join(o.folder, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // a public folder
		if err == nil {
			err = os.WriteFile(path, content, 0o644) //nolint:gosec // a public file
		}
		if err != nil {
			return fmt.Errorf("write a file: %w", err)
		}
	}
	return nil
}

// labels returns the labels of the bundle's image, which its metadata repeats.
func labels() map[string]any {
	const prefix = "operators.operatorframework.io.bundle."
	return map[string]any{
		prefix + "mediatype.v1": "registry+v1", prefix + "manifests.v1": "manifests/", prefix + "metadata.v1": "metadata/",
		prefix + "package.v1": packageName, prefix + "channels.v1": channel, prefix + "channel.default.v1": channel,
	}
}

// document returns a value as YAML. The keys of its maps are sorted.
func document(value any) []byte {
	text, err := yaml.Marshal(value)
	if err != nil {
		panic(err) // the value has only types of JSON
	}
	return text
}

// dockerfile returns a Dockerfile for an image that has only these labels and files. OLM extracts the files.
func dockerfile(labels map[string]any, copies ...string) []byte {
	var text bytes.Buffer
	fmt.Fprintln(&text, "FROM scratch")
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&text, "LABEL %s=%s\n", name, labels[name])
	}
	for _, each := range copies {
		fmt.Fprintln(&text, "COPY", each)
	}
	return text.Bytes()
}

// catalog returns the file-based catalog with the bundle as its only entry. The entry replaces every earlier version,
// so the catalog needs no other entries.
func catalog(made *bundle, o *options) []byte {
	csv := made.csv
	name, spec := csv.name(), csv.child("spec")
	image := o.image + ":v" + o.version
	properties := []any{property("olm.package", map[string]any{"packageName": packageName, "version": o.version})}
	for _, version := range made.definition.child("spec").list("versions") {
		properties = append(properties, property("olm.gvk", map[string]any{
			"group":   made.definition.child("spec")["group"],
			"version": version["name"], "kind": made.definition.child("spec").child("names")["kind"],
		}))
	}
	metadata := map[string]any{
		"annotations": csv.child("metadata")["annotations"], "labels": csv.child("metadata")["labels"],
		"crdDescriptions": spec["customresourcedefinitions"], "apiServiceDefinitions": map[string]any{},
	}
	for _, key := range []string{
		"description", "displayName", "installModes", "keywords", "links", "maturity", "minKubeVersion", "provider",
	} {
		metadata[key] = spec[key]
	}
	properties = append(properties, property("olm.csv.metadata", metadata))
	related := append([]any{map[string]any{"name": "", "image": image}}, spec["relatedImages"].([]any)...)
	entry := map[string]any{"name": name, "replaces": o.replaces, "skipRange": skipRange(o)}
	documents := [][]byte{
		document(map[string]any{
			"schema": "olm.package", "name": packageName, "defaultChannel": channel, "description": spec["description"],
		}),
		document(map[string]any{"schema": "olm.channel", "package": packageName, "name": channel, "entries": []any{entry}}),
		document(map[string]any{
			"schema": "olm.bundle", "name": name, "package": packageName, "image": image,
			"properties": properties, "relatedImages": related,
		}),
	}
	return bytes.Join(documents, []byte("---\n"))
}

func property(kind string, value map[string]any) map[string]any {
	return map[string]any{"type": kind, "value": value}
}

// skipRange returns the versions that the bundle replaces directly: all earlier ones, from the first release of the
// operator for v1alpha1 on.
func skipRange(o *options) string { return ">=" + firstOlder + " <" + o.version }
