package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
)

// maxManifestBytes bounds one input: etcd refuses objects a fraction this size,
// so a larger file is a mistake (a model, an archive) and is named as one.
const maxManifestBytes = 16 << 20

// defaultNamespace is where an object without a namespace is taken to live.
const defaultNamespace = "default"

// document is one YAML document of a file.
type document struct {
	file string
	data []byte
}

// manifests are the objects of all files that the pipeline can use. Documents
// of other kinds are passed over, so that whole folders can be given.
type manifests struct {
	stacks     []stack
	configMaps map[objectKey]*corev1.ConfigMap
	secrets    map[objectKey]*corev1.Secret
	// config is the operator's ConfigMap.
	config operatorconfig.Config
}

// stack is one LlamaStackDistribution and the file it came from.
type stack struct {
	file   string
	object *v1alpha2.LlamaStackDistribution
	// decoded says that object holds what could be read. A document with a wrong
	// group or a misspelt field is decoded too, so that all its mistakes are
	// found at once.
	decoded bool
	// older says that the document is of v1alpha1; object is what it is stored as.
	older bool
	// errs are the mistakes found in decoding, warnings what has no effect.
	errs, warnings []string
}

type objectKey struct{ namespace, name string }

// readManifests reads every document of the named files, folders (their *.yaml,
// *.yml and *.json) and, for "-", of stdin.
func readManifests(paths []string, namespace string, stdin io.Reader) (*manifests, error) {
	found := &manifests{
		configMaps: make(map[objectKey]*corev1.ConfigMap),
		secrets:    make(map[objectKey]*corev1.Secret),
	}
	for _, path := range paths {
		documents, err := readDocuments(path, stdin)
		if err != nil {
			return nil, err
		}
		for _, doc := range documents {
			if err := found.add(doc, namespace); err != nil {
				return nil, err
			}
		}
	}
	if len(found.stacks) == 0 {
		return nil, fmt.Errorf("no %s in %s", v1alpha2.Kind, strings.Join(paths, ", "))
	}
	return found, nil
}

func readDocuments(path string, stdin io.Reader) ([]document, error) {
	if path == "-" {
		data, err := readBounded(stdin, "standard input")
		if err != nil {
			return nil, err
		}
		return splitDocuments("-", data)
	}
	files, err := manifestFiles(path)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, file := range files {
		more, err := readFile(file)
		if err != nil {
			return nil, err
		}
		documents = append(documents, more...)
	}
	return documents, nil
}

func readFile(path string) ([]document, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := readBounded(file, path)
	if err != nil {
		return nil, err
	}
	return splitDocuments(path, data)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxManifestBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxManifestBytes {
		return nil, fmt.Errorf("read %s: more than %d MiB, which is no manifest", name, maxManifestBytes>>20)
	}
	return data, nil
}

// manifestFiles lists a folder's manifests in the order of their names, or gives
// the path itself.
func manifestFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list manifests in %q: %w", path, err)
	}
	return files, nil
}

func splitDocuments(file string, data []byte) ([]document, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var documents []document
	for {
		data, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("split %s into documents: %w", file, err)
		}
		documents = append(documents, document{file: file, data: data})
	}
}

// add sorts one document in. Only what cannot be YAML at all is an error of the
// command: everything else is said of the object.
func (m *manifests) add(doc document, namespace string) error {
	meta, err := peek(doc)
	if err != nil {
		return err
	}
	switch {
	case meta.Kind == v1alpha2.Kind:
		m.stacks = append(m.stacks, decodeStack(doc, meta, namespace))
		return nil
	case meta.Kind == "ConfigMap" && meta.APIVersion == "v1":
		return addReference(doc, m.configMaps, namespace)
	case meta.Kind == "Secret" && meta.APIVersion == "v1":
		return addReference(doc, m.secrets, namespace)
	}
	return nil
}

// named is what a Secret and a ConfigMap have in common here.
type named interface {
	GetName() string
	GetNamespace() string
}

// addReference keeps an object that a stack may refer to. Its content is never
// printed, so errors name the file alone.
func addReference[T any, P interface {
	*T
	named
}](doc document, into map[objectKey]P, namespace string,
) error {
	object := P(new(T))
	if err := yaml.Unmarshal(doc.data, object); err != nil {
		return fmt.Errorf("decode a Secret or ConfigMap in %s: not of its kind's form", doc.file)
	}
	into[objectKey{namespaceOr(object.GetNamespace(), namespace), object.GetName()}] = object
	return nil
}

func namespaceOr(namespace, fallback string) string {
	if namespace != "" {
		return namespace
	}
	return fallback
}
