package storage

import (
	"cmp"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

const (
	tableKey = "table_name"
	// keyValueTable is the default table of a key-value store in PostgreSQL up to release 0.7. Release 0.8 and later
	// releases have a different default, and do not find the data in this table (server fact 42).
	keyValueTable = "llamastack_kvstore"
)

// NameTables writes the table name of each key-value store in PostgreSQL, so that the name is the same in every
// release. If inUse is not empty, the data of the stack is in the table inUse, and the stack keeps that table.
func NameTables(d *draft.Draft, inUse string) {
	if d.Release.Storage.Inline {
		return
	}
	backends := yamlnode.At(d.Root, "storage", "backends")
	for i := 1; backends != nil && i < len(backends.Content); i += 2 {
		node := backends.Content[i]
		kind, known := d.Release.Storage.Backend(yamlnode.Text(node, "type"))
		if !known || kind.Family != release.KV {
			continue
		}
		if _, has := kind.Class.Key(tableKey); has {
			nameTable(d, node, inUse)
		}
	}
}

func nameTable(d *draft.Draft, backend *yaml.Node, inUse string) {
	written := yamlnode.Text(backend, tableKey)
	switch {
	case written == "":
		d.Write(draft.Under(backend, tableKey), yamlnode.String(cmp.Or(inUse, keyValueTable)),
			draft.Origin{Note: "the same in every release"})
	case inUse != "":
		if text, moved := tableWithDefault(d, written, inUse); moved {
			d.Write(draft.Under(backend, tableKey), yamlnode.String(text),
				draft.Origin{Note: "the table that contains the data"})
		}
	}
}

// tableWithDefault replaces the default in a table name of the base with the table in use. It returns false when the
// name has no default, when the default is already the table in use, or when a variable sets the table.
func tableWithDefault(d *draft.Draft, written, inUse string) (string, bool) {
	found, whole := envref.Lookalike.Whole(written)
	if !whole || found.Operator != envref.Default || found.Text == inUse || d.IsSet(found.Name) {
		return "", false
	}
	return envref.WithDefault(found.Name, inUse), true
}
