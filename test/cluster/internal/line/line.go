package line

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Default is the line that the tool uses if the user does not select one. It is the newest line that the project
// supports.
const Default = "1.37"

// prefix is the prefix of a line's directory name.
const prefix = "k8s-"

// Line is one Kubernetes minor release, pinned to a patch release.
type Line struct {
	// Name is the minor release, such as "1.37".
	Name string
	// Version is the pinned patch release, such as "v1.37.2".
	Version string
	// Etcd is the pinned release of etcd, such as "v3.7.0". It is empty if the module does not require etcd.
	Etcd string
	// Module is the absolute path of the module that pins the line.
	Module string
}

// Folder returns the directory of the lines in the work tree at root.
func Folder(root string) string {
	return filepath.Join(root, "test", "cluster", "components")
}

// Load reads the line with the given name, such as "1.37", from the given directory. The error for an unknown name
// lists the existing lines.
func Load(folder, name string) (Line, error) {
	names, err := Names(folder)
	if err != nil {
		return Line{}, err
	}
	if !slices.Contains(names, name) {
		return Line{}, fmt.Errorf("unknown Kubernetes line %q: use one of %s", name, strings.Join(names, ", "))
	}
	module := filepath.Join(folder, prefix+name)
	version, err := required(filepath.Join(module, "go.mod"), "k8s.io/kubernetes")
	if err != nil {
		return Line{}, err
	}
	etcd, err := required(filepath.Join(module, "go.mod"), "go.etcd.io/etcd/server/v3")
	if err != nil {
		etcd = ""
	}
	return Line{Name: name, Version: version, Etcd: etcd, Module: module}, nil
}

// Names returns the names of the lines in the given directory, sorted alphabetically.
func Names(folder string) ([]string, error) {
	modules, err := filepath.Glob(filepath.Join(folder, prefix+"*", "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("listing Kubernetes lines in %q: %w", folder, err)
	}
	names := make([]string, 0, len(modules))
	for _, module := range modules {
		names = append(names, strings.TrimPrefix(filepath.Base(filepath.Dir(module)), prefix))
	}
	return names, nil
}

// MajorMinor returns the major and the minor version, which Kubernetes programs report separately.
func (l Line) MajorMinor() (major, minor string) {
	parts := strings.SplitN(strings.TrimPrefix(l.Version, "v"), ".", 3)
	if len(parts) < 2 {
		return parts[0], ""
	}
	return parts[0], parts[1]
}

// required returns the version of a module that a go.mod file requires.
func required(file, module string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("reading a Kubernetes line: %w", err)
	}
	defer f.Close()

	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "require "))
		if len(fields) >= 2 && fields[0] == module && fields[1] != "=>" {
			return fields[1], nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("reading %q: %w", file, err)
	}
	return "", fmt.Errorf("%q does not require %s", file, module)
}
