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

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// version of the form in which Places are written. What another form says is not
// known.
const version = 1

// maxData bounds the kinds of data, maxText each text, so that an annotation holds
// them whatever a configuration says.
const (
	maxData = 200
	maxText = 256
)

// Registry is the data that the server's registry holds: what clients registered.
const Registry = "registry"

// Places says where the data of a stack lies. The zero value says that nothing is
// known.
type Places struct {
	Version int `json:"v"`
	// Release is the release line of the server. Empty: it is not known.
	Release string `json:"release,omitempty"`
	// Unread says that nobody knows the configuration; then Volumes is all there is.
	Unread bool `json:"unread,omitempty"`
	// Override says that the configuration is the user's own file.
	Override bool `json:"override,omitempty"`
	// Volumes are those of the server's container, sorted by path.
	Volumes []Volume `json:"volumes,omitempty"`
	// Stores are the backends that hold data, by their names in the configuration.
	Stores map[string]Store `json:"stores,omitempty"`
	// Data is what is kept, by what Loss.What calls it.
	Data map[string]Data `json:"data,omitempty"`
	// More counts the data that has no room in Data.
	More int `json:"more,omitempty"`
}

// Volume is a directory that is not the container's own.
type Volume struct {
	Mount string `json:"mount"`
	// Source is what the volume is made of, the same for the same data:
	// "PersistentVolumeClaim demo-pvc". Empty: it goes with the pod.
	Source string `json:"source,omitempty"`
	// SubPath of the source.
	SubPath string `json:"subPath,omitempty"`
}

// Store is a backend of the configuration.
type Store struct {
	// Type is the type of the backend with its family: kv_sqlite.
	Type string `json:"type"`
	// At is the file, or the address of the server: host:port/database. A value of a
	// Secret is the reference to it.
	At string `json:"at,omitempty"`
	// Text is what the configuration says for At, or for Table, where that has
	// variables.
	Text string `json:"text,omitempty"`
	// Table of a key-value store in PostgreSQL.
	Table string `json:"table,omitempty"`
	// Apart says that the namespaces of a key-value store are apart from each other.
	Apart bool `json:"apart,omitempty"`
}

// Data is one kind of what clients stored.
type Data struct {
	// Type is the type of the provider that keeps it.
	Type string `json:"type,omitempty"`
	// In are its places.
	In []Place `json:"in,omitempty"`
	// Form is the form of what a provider writes; another form cannot be read.
	Form string `json:"form,omitempty"`
}

// Place is a part of a store, or a place of a provider's own.
type Place struct {
	// Store is a name in Places.Stores, Space the namespace or table there.
	Store string `json:"store,omitempty"`
	Space string `json:"space,omitempty"`
	// File is a file or directory of the container, Text what the configuration says
	// for it where that has variables.
	File string `json:"file,omitempty"`
	Text string `json:"text,omitempty"`
	// At is the address of a server.
	At string `json:"at,omitempty"`
}

// UnmarshalJSON never fails: damaged Places say that nothing is known, and do not
// take with them what they are part of.
func (p *Places) UnmarshalJSON(data []byte) error {
	type plain Places
	var read plain
	if err := json.Unmarshal(data, &read); err != nil || read.Version != version {
		*p = Places{}
		return nil //nolint:nilerr // what is damaged is computed again
	}
	*p = Places(read)
	return nil
}

// Known reports whether the Places say anything.
func (p *Places) Known() bool { return p != nil && p.Version == version }

// Table is the table of the key-value store in PostgreSQL; empty when there is none.
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

// Directory is the directory of the key-value store's SQLite file, in the notation of the configuration; empty when there
// is none, or nobody knows it.
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

// short bounds a text and keeps it different from others.
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

// location is where a file lies, whatever path leads to it.
type location struct {
	// source of the volume; empty: the file goes with the pod.
	source string
	// path in the volume, or in the pod.
	path string
}

func (l location) durable() bool { return l.source != "" }

// location finds the volume that holds a file.
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

// below is the rest of a path below a mount. A home directory that nobody knows is
// the one that a mount of its subdirectory is meant for: a volume at /.llama is there
// for ~/.llama.
func below(file, mount string) (rest string, ok bool) {
	mount = path.Clean(mount)
	if home, found := strings.CutPrefix(file, "~/"); found {
		first, behind, _ := strings.Cut(home, "/")
		return behind, first == path.Base(mount) && strings.HasPrefix(first, ".")
	}
	if file == mount {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(mount, "/")+"/")
}

// mounted reports whether a volume is mounted anywhere.
func (p *Places) mounted(source string) bool {
	return slices.ContainsFunc(p.Volumes, func(v Volume) bool { return v.Source == source })
}
