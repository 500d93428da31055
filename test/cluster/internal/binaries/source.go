package binaries

import (
	"cmp"
	"fmt"
	"time"
)

// Origin is the source of programs.
type Origin int

const (
	// Any downloads a release, and builds from modules if that is not possible.
	Any Origin = iota
	// Modules builds from modules.
	Modules
	// Release downloads a release, and fails if that is not possible.
	Release
)

// originVariable is the environment variable that selects the origin.
const originVariable = "CLUSTER_PROGRAMS"

// OriginFrom returns the origin that the environment selects. In continuous integration, the default is to build from
// modules, because the result of a run must not depend on the release servers.
func OriginFrom(getenv func(string) string) (Origin, error) {
	switch value := getenv(originVariable); {
	case value == "build" || value == "" && getenv("CI") != "":
		return Modules, nil
	case value == "release":
		return Release, nil
	case value == "":
		return Any, nil
	default:
		return Any, fmt.Errorf("$%s is %q: use build or release, or unset the variable to download a release if possible and to build otherwise", originVariable, value)
	}
}

const (
	publishedKubernetes = "https://dl.k8s.io/release"
	publishedEtcd       = "https://github.com/etcd-io/etcd/releases/download"
)

// Source contains the addresses of releases.
type Source struct {
	// Kubernetes and Etcd are the base URLs of the releases.
	Kubernetes, Etcd string
	// Connect is the time limit for a connection to a server. Stall is the time limit for each MiB of a file.
	Connect, Stall time.Duration
}

func (s Source) orPublished() Source {
	return Source{
		Kubernetes: cmp.Or(s.Kubernetes, publishedKubernetes), Etcd: cmp.Or(s.Etcd, publishedEtcd),
		Connect: cmp.Or(s.Connect, 3*time.Second), Stall: cmp.Or(s.Stall, 15*time.Second),
	}
}

// File describes a file in a release.
type File struct {
	// Name is the name of the program.
	Name string
	// Server is the base URL of the release. URL is the address of the file, and Sums is the address of a file with its
	// SHA-256.
	Server, URL, Sums string
	// Member is the path of the program if the file is an archive.
	Member string
}

// kubernetes returns the programs of a Kubernetes release. The checksum of each program is in a file next to it, as in
// kubectl's installation guide.
func (s Source) kubernetes(version, os, arch string, names ...string) []File {
	var files []File
	for _, name := range names {
		url := fmt.Sprintf("%s/%s/bin/%s/%s/%s", s.Kubernetes, version, os, arch, name)
		files = append(files, File{Name: name, Server: s.Kubernetes, URL: url, Sums: url + ".sha256"})
	}
	return files
}

// etcd returns the archive of an etcd release.
func (s Source) etcd(version, os, arch string) File {
	folder := fmt.Sprintf("etcd-%s-%s-%s", version, os, arch)
	release := s.Etcd + "/" + version + "/"
	return File{
		Name: "etcd", Server: s.Etcd, URL: release + folder + ".tar.gz", Sums: release + "SHA256SUMS", Member: folder + "/etcd",
	}
}
