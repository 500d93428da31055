package provider

import "strings"

// Defaults returns RequiredDefaults for a provider with the given ID in a distribution with the given name. Defaults
// replaces the placeholders {id}, {table} (the ID as a table name) and {distribution}. The result is a copy.
func (t *Type) Defaults(id, distribution string) []Default {
	out := make([]Default, len(t.RequiredDefaults))
	for i, d := range t.RequiredDefaults {
		out[i] = Default{Key: d.Key, Value: Fill(d.Value, id, distribution)}
	}
	return out
}

// Fill returns a copy of a value and, in the copy, replaces the placeholders {id}, {table} and {distribution}.
func Fill(value any, id, distribution string) any {
	return expand(strings.NewReplacer("{id}", id, "{table}", tableName(id), "{distribution}", distribution), value)
}

// Default returns the default value of one key, and replaces the placeholders as Fill does.
func (t *Type) Default(key, id, distribution string) (any, bool) {
	for _, d := range t.Defaults(id, distribution) {
		if d.Key == key {
			return d.Value, true
		}
	}
	return nil, false
}

func expand(fill *strings.Replacer, value any) any {
	switch v := value.(type) {
	case string:
		return fill.Replace(v)
	case Fields:
		out := make(Fields, len(v))
		for i, f := range v {
			out[i] = Field{Key: f.Key, Value: expand(fill, f.Value)}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = expand(fill, v[i])
		}
		return out
	default:
		return value
	}
}

// tableName returns a table name for a provider's ID. The server inserts the table name without quotes into some SQL
// statements, so the name contains only lowercase letters, digits and underscores.
func tableName(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		default:
			return '_'
		}
	}, id)
}
