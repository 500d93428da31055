// Command schemas writes the JSON Schemas that editors use for LlamaStackDistribution: one for each version, from the
// CustomResourceDefinition, and one v1alpha2 schema for each server release line that users can request. The schema for
// a release line contains its provider types and the keys of their settings. The schemas use draft-07, which
// yaml-language-server supports.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/shapes"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const (
	crdFile = "config/crd/bases/llamastack.io_llamastackdistributions.yaml"
	types   = "api/v1alpha2"
	prefix  = "llamastackdistribution_"
	suffix  = ".json"
)

// object is a JSON object: a schema, or a part of one.
type object = map[string]any

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: schemas FOLDER")
		os.Exit(2)
	}
	if err := write(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// write writes all schemas into a folder. root is the folder of the repository.
func write(root, folder string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, data := range files {
		//nolint:gosec // a public file
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return fmt.Errorf("write schema: %w", err)
		}
	}
	return nil
}

// generate returns the schemas, keyed by file name. root is the folder of the repository.
func generate(root string) (map[string][]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, crdFile))
	if err != nil {
		return nil, fmt.Errorf("read definition: %w", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(data, &crd); err != nil {
		return nil, fmt.Errorf("parse definition: %w", err)
	}
	fields, err := shapes.Read(filepath.Join(root, types))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		schema, err := ofVersion(&crd, version, fields)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", version.Name, err)
		}
		files[fileOf(version.Name)] = encode(schema)
	}
	for _, line := range release.Offered() {
		match, err := release.Lookup(line)
		if err != nil {
			return nil, fmt.Errorf("read release data: %w", err)
		}
		files[fileOf(v1alpha2.GroupVersion.Version+"-"+line)] = encode(ofRelease(match.Release))
	}
	return files, nil
}

// fileOf returns the name of the file for a version or a release. The parameter name is, for example, v1alpha2 or
// v1alpha2-0.7.
func fileOf(name string) string { return prefix + name + suffix }
