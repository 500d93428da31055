package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
)

// ErrAbsent means that the directory does not contain a control plane.
var ErrAbsent = errors.New("no control plane")

// recordName is the name of the file that marks a directory as created by this tool.
const recordName = "cluster.json"

// Record describes a control plane. It is stored as JSON in the directory of the control plane.
type Record struct {
	// Kubernetes is the version, such as "v1.37.2".
	Kubernetes string `json:"kubernetes"`
	// Options is the text of the options with which the control plane was started. `cluster up` compares it with the text
	// of the requested options.
	Options string `json:"options"`
	// Started is the time when the directory was created.
	Started time.Time `json:"started"`
	// Supervisor is the process that starts and ends the components. It is empty until the supervisor holds the lock.
	Supervisor process.Identity `json:"supervisor,omitzero"`
	// Components lists the processes started so far.
	Components []Component `json:"components,omitempty"`
	// Server is the URL of the API server.
	Server string `json:"server,omitempty"`
	// Registry is the address (host:port) of the node's registry. It is empty if there is no node.
	Registry string `json:"registry,omitempty"`
	// Ready is true after every component has become ready.
	Ready bool `json:"ready,omitempty"`
}

// Component is one running program of the control plane.
type Component struct {
	Name    string           `json:"name"`
	Process process.Identity `json:"process"`
}

// Read returns the record in the given directory. It returns ErrAbsent if the directory does not exist, is empty, or
// contains only files that Create can leave when its process is killed. It returns a different error for a directory
// that this tool did not create.
func Read(folder string) (Record, error) {
	data, err := os.ReadFile(filepath.Join(folder, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, absentOrForeign(folder)
	}
	if err != nil {
		return Record{}, fmt.Errorf("reading the record of a control plane: %w", err)
	}
	var record Record
	if err := json.Unmarshal(data, &record); err != nil {
		return Record{}, fmt.Errorf("decoding %q: %w", filepath.Join(folder, recordName), err)
	}
	return record, nil
}

// absentOrForeign returns the error for a directory without a record. If a directory contains only files that Create
// can leave when its process is killed, absentOrForeign treats the directory as absent.
func absentOrForeign(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the folder of a control plane: %w", err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != lockName && name != recordName+".new" {
			return fmt.Errorf("%q contains %q and was not created by this tool: choose another folder", folder, name)
		}
	}
	return fmt.Errorf("%w in %q; to start a control plane, run `cluster up`", ErrAbsent, folder)
}

// write replaces the record atomically, so that no reader sees a partial record.
func write(folder string, record Record) error {
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the record of a control plane: %w", err)
	}
	file := filepath.Join(folder, recordName)
	if err := os.WriteFile(file+".new", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the record of a control plane: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("replacing the record of a control plane: %w", err)
	}
	return nil
}
