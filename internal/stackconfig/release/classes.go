package release

import (
	"encoding/json"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// buildClasses creates the classes of a release. Classes refer to each other, so buildClasses creates all classes
// before it sets their keys.
func buildClasses(rows map[string]*classRow) (map[string]*schema.Class, error) {
	classes := make(map[string]*schema.Class, len(rows))
	for name, row := range rows {
		classes[name] = schema.NewClass(name, row.Extra, nil)
	}
	parser := schema.NewParser(classes)
	for _, name := range sortedKeys(rows) {
		row := rows[name]
		switch row.Extra {
		case schema.ExtraIgnore, schema.ExtraAllow, schema.ExtraForbid:
		default:
			return nil, fmt.Errorf("class %q: unknown extra %q", name, row.Extra)
		}
		keys, err := buildKeys(row.Keys, parser)
		if err != nil {
			return nil, fmt.Errorf("class %q: %w", name, err)
		}
		classes[name].SetKeys(keys)
		classes[name].Rules, classes[name].BackendFamily = row.Rules, row.BackendFamily
	}
	return classes, nil
}

func buildKeys(rows []keyRow, parser *schema.Parser) ([]schema.Key, error) {
	keys := make([]schema.Key, len(rows))
	for i := range rows {
		row := &rows[i]
		kind, err := parser.Parse(row.Type)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", row.Name, err)
		}
		keys[i] = schema.Key{
			Name: row.Name, Aliases: row.Aliases, Type: kind, Required: row.Required,
			DefaultVariables: row.DefaultVariables, Secret: row.Secret, Deprecated: row.Deprecated,
			Internal: row.Internal, Limits: row.Limits,
		}
		if row.Default != nil {
			if err := decodeDefault(row.Default, &keys[i].Default); err != nil {
				return nil, fmt.Errorf("key %q: default: %w", row.Name, err)
			}
		}
	}
	return keys, nil
}

// decodeDefault decodes the default of a key. For speed, it handles the three most common values without a JSON
// decoder.
func decodeDefault(data json.RawMessage, into *any) error {
	switch string(data) {
	case "null":
		return nil
	case "true", "false":
		*into = string(data) == "true"
		return nil
	}
	return json.Unmarshal(data, into)
}
