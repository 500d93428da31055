package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/bundle"
)

// folders maps directories in the work tree to their places in a bundle.
var folders = []struct{ source, target string }{
	{"dist", "manifests"},
	{"charts/llama-stack-k8s-operator", "chart/llama-stack-k8s-operator"},
	{"config/samples", samples},
}

// samples is the folder of the samples in a bundle.
const samples = "samples"

// modeline matches the line that names the JSON Schema of a sample. The samples in a bundle do not have this line,
// because a bundle does not contain the schemas.
var modeline = regexp.MustCompile(`(?m)^# yaml-language-server: .*\n`)

// images is the name of the file in dist with the list of images. folderFiles skips it, because it is not a manifest.
const images = "images.txt"

// files returns all files in a bundle that are not part of an image.
func files(tree, programs string, readme []byte) ([]bundle.File, error) {
	found := []bundle.File{
		{Name: bundle.Readme, Content: readme},
		{Name: bundle.ImageList, Source: filepath.Join(tree, "dist", images)},
		{Name: "LICENSE", Source: filepath.Join(tree, "LICENSE")},
	}
	for _, folder := range folders {
		below, err := folderFiles(filepath.Join(tree, folder.source), folder.target, false)
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	if programs == "" {
		return found, nil
	}
	below, err := folderFiles(programs, "bin", true)
	return append(found, below...), err
}

func folderFiles(source, target string, executable bool) ([]bundle.File, error) {
	var found []bundle.File
	err := fs.WalkDir(os.DirFS(source), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == images {
			return err
		}
		file := bundle.File{
			Name: path.Join(target, name), Source: filepath.Join(source, name),
			Executable: executable,
		}
		if target == samples {
			content, err := os.ReadFile(file.Source)
			if err != nil {
				return err
			}
			file.Source, file.Content = "", modeline.ReplaceAll(content, nil)
		}
		found = append(found, file)
		return nil
	})
	if err == nil && len(found) == 0 {
		err = errors.New("the folder has no files")
	}
	if err != nil {
		return nil, fmt.Errorf("read folder %q: %w", source, err)
	}
	return found, nil
}

const readmeBegin = `# Llama Stack operator, for clusters without internet access

This archive is an OCI layout. Tools that read OCI layouts, such as skopeo and ctr, find the images by their names. The
archive also contains:

| | |
|---|---|
| bin/ | kubectl-llamastack, the command-line tool, for each platform |
| chart/, manifests/ | the Helm chart and the manifests, two ways to install the operator |
| samples/ | sample stacks |
| images.txt | the images of the operator and of all servers that it offers |
| SHA256SUMS | checksums of the files; to check them, extract the archive, and run sha256sum --check SHA256SUMS |

Load the images into your registry, and install the operator. BUNDLE is the path of this archive:

    tar -xf BUNDLE bin chart samples
    docker login registry.corp:5000
    bin/kubectl-llamastack-linux-amd64 bundle load BUNDLE \
      --registry registry.corp:5000/mirror --ca-file ca.pem > values.yaml
    helm install llama-stack-k8s-operator chart/llama-stack-k8s-operator --create-namespace \
      --namespace llama-stack-k8s-operator-system --values values.yaml

For pull Secrets, the certificate of your registry, mirrors, and the requirements of stacks, see docs/how-to/air-gap.md
in the operator's documentation.

## Images in this archive

`

func readme(has []bundle.Image, missing []string) []byte {
	var page strings.Builder
	page.WriteString(readmeBegin)
	for i := range has {
		fmt.Fprintf(&page, "    %s@%s\n", has[i].Reference, has[i].Descriptor.Digest)
	}
	if len(missing) > 0 {
		page.WriteString("\nThese images were not available when the archive was created, and are not in the archive:\n\n")
		for _, reference := range missing {
			fmt.Fprintf(&page, "    %s\n", reference)
		}
	}
	return []byte(page.String())
}
