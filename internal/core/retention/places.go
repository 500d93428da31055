package retention

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// version is the version of the encoding of Places. Places in another encoding count as unknown.
const version = 1

// maxData bounds the number of kinds of data, and maxText bounds the length of each string, so that the Places of any
// configuration fit into an annotation.
const (
	maxData = 200
	maxText = 256
)

// Registry is the data in the server's registry: the resources that clients registered.
const Registry = "registry"

// Places describes where the data of a stack is stored. The zero value means that the places are unknown.
type Places struct {
	Version int `json:"v"`
	// Release is the release line of the server. Empty means that it is unknown.
	Release string `json:"release,omitempty"`
	// Unread reports whether the configuration is unknown. If so, Stores and Data are empty.
	Unread bool `json:"unread,omitempty"`
	// Override reports whether the configuration is the user's own file.
	Override bool `json:"override,omitempty"`
	// Volumes lists the volumes of the server's container that outlive the pod, and the volumes that are mounted inside
	// them, sorted by path.
	Volumes []Volume `json:"volumes,omitempty"`
	// Stores holds the backends with data, keyed by their names in the configuration.
	Stores map[string]Store `json:"stores,omitempty"`
	// Data holds the kinds of data, keyed by their names in Loss.What.
	Data map[string]Data `json:"data,omitempty"`
	// More is the number of kinds of data that did not fit into Data.
	More int `json:"more,omitempty"`
	// Models holds the models that vector stores or access rules can name, keyed by their public IDs.
	Models map[string]Model `json:"models,omitempty"`
	// Served holds all models that the configuration names. Inference maps the IDs of the inference providers to their
	// types. Rules are the access rules. Adopts is the same as in Input. Compare needs these fields only for the pods
	// after a change.
	Adopts    bool              `json:"-"`
	Served    map[string]Model  `json:"-"`
	Inference map[string]string `json:"-"`
	Rules     []Rule            `json:"-"`
}

// Volume is a directory that is not part of the container's own file system.
type Volume struct {
	Mount string `json:"mount"`
	// Source identifies the volume's storage, such as "PersistentVolumeClaim demo-pvc". Equal sources contain the same
	// data. Empty means that the data is deleted with the pod.
	Source string `json:"source,omitempty"`
	// SubPath is the path in the source.
	SubPath string `json:"subPath,omitempty"`
}

// Store is a backend in the configuration.
type Store struct {
	// Type is the type of the backend with its family, such as kv_sqlite.
	Type string `json:"type"`
	// At is the file, or the address of the server: host:port/database. Instead of a value from a Secret, it contains a
	// reference to the Secret (see Reference).
	At string `json:"at,omitempty"`
	// Text is the text in the configuration for At or Table, if the text contains variables.
	Text string `json:"text,omitempty"`
	// Table is the table or collection of a key-value store in a database server.
	Table string `json:"table,omitempty"`
	// Apart reports whether the namespaces of a key-value store are separate.
	Apart bool `json:"apart,omitempty"`
}

// Data is one kind of data that clients store.
type Data struct {
	// Type is the type of the provider that stores the data. Provider is its ID, if the server uses only one provider of
	// the API.
	Type     string `json:"type,omitempty"`
	Provider string `json:"provider,omitempty"`
	// In lists the places where the data is stored.
	In []Place `json:"in,omitempty"`
	// Form is the format of the provider's data. A server that uses another format cannot read the data.
	Form string `json:"form,omitempty"`
}

// Place is a part of a store, or a place that the settings of a provider contain.
type Place struct {
	// Store is a name in Places.Stores. Space is the namespace or table in the store.
	Store string `json:"store,omitempty"`
	Space string `json:"space,omitempty"`
	// File is a file or directory in the container. Text is its text in the configuration, if it has variables.
	File string `json:"file,omitempty"`
	Text string `json:"text,omitempty"`
	// At is the address of a server.
	At string `json:"at,omitempty"`
}

// UnmarshalJSON never fails. Damaged Places become unknown Places, so that the record that contains them can still be
// read.
func (p *Places) UnmarshalJSON(data []byte) error {
	type plain Places
	var read plain
	if err := json.Unmarshal(data, &read); err != nil || read.Version != version {
		*p = Places{}
		return nil //nolint:nilerr // damaged Places are computed again
	}
	*p = Places(read)
	return nil
}

// Known reports whether the Places contain any information.
func (p *Places) Known() bool { return p != nil && p.Version == version }

// Table returns the table of the key-value store in PostgreSQL, or an empty string if there is no such store.
func (p *Places) Table() string {
	if !p.Known() {
		return ""
	}
	names := append([]string{release.KVDefault}, slices.Sorted(maps.Keys(p.Stores))...)
	for _, name := range names {
		if store := p.Stores[name]; store.Type == kvPostgres && store.Table != "" {
			return store.Table
		}
	}
	return ""
}

// Uses reports whether data is in files below a directory.
func (p *Places) Uses(directory string) bool {
	if !p.Known() {
		return false
	}
	for _, data := range p.Data {
		for _, place := range data.In {
			if strings.HasPrefix(p.fileOf(place), directory+"/") {
				return true
			}
		}
	}
	return false
}

// Directory returns the directory of the key-value store's SQLite file as written in the configuration, with its
// variables unresolved. It is empty if there is no such file, or if the directory is unknown.
func (p *Places) Directory() string {
	if !p.Known() {
		return ""
	}
	store := p.Stores[release.KVDefault]
	file := cmp.Or(store.Text, store.At)
	slash := strings.LastIndexByte(file, '/')
	if store.Type != kvSQLite || slash < strings.LastIndexByte(file, '}') || slash < 1 || strings.Contains(file, "…") {
		return ""
	}
	return file[:slash]
}

// short bounds the length of a string. Different strings have different results.
func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText/2], "") + "…" + digest([]byte(text))
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// location identifies a file independently of the path at which its volume is mounted.
type location struct {
	// source is the source of the volume. Empty means that the file is deleted with the pod.
	source string
	// path is the path in the volume, or in the pod.
	path string
}

func (l location) durable() bool { return l.source != "" }

// location returns the location of a file in the volume that contains it. If no volume that outlives the pod contains
// the file, the location is the path in the pod.
func (p *Places) location(file string) location {
	best := -1
	var rest string
	for i, volume := range p.Volumes {
		found, ok := below(file, volume.Mount)
		if ok && (best < 0 || len(volume.Mount) > len(p.Volumes[best].Mount)) {
			best, rest = i, found
		}
	}
	if best < 0 || p.Volumes[best].Source == "" {
		return location{path: file}
	}
	return location{source: p.Volumes[best].Source, path: path.Join("/", p.Volumes[best].SubPath, rest)}
}

// below returns the part of a path below a mount. A path in an unknown home directory matches a mount that contains the
// first directory of the path, if the name of this directory begins with a dot: volumes at /.llama and at
// /root/.llama/distributions match ~/.llama/distributions. Whether such a path is really on the volume is not known.
func below(file, mount string) (rest string, ok bool) {
	mount = path.Clean(mount)
	if home, found := strings.CutPrefix(file, inHome); found {
		first, _, _ := strings.Cut(home, "/")
		at := strings.Index(mount+"/", "/"+first+"/")
		if at < 0 || !strings.HasPrefix(first, ".") {
			return "", false
		}
		file, mount = "/"+home, mount[at:]
	}
	if file == mount {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(mount, "/")+"/")
}

// mounted reports whether the server's container mounts a volume.
func (p *Places) mounted(source string) bool {
	return slices.ContainsFunc(p.Volumes, func(v Volume) bool { return v.Source == source })
}
