package v1alpha2

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The wrappers below hold the JSON that a user wrote. Decoding accepts any valid JSON, so that validation can report an
// object that was stored without admission. Encoding returns the same value.

var jsonNull = []byte("null")

// MarshalJSON returns the JSON that the user wrote.
func (p Providers) MarshalJSON() ([]byte, error) { return marshalRaw(p.Raw) }

// UnmarshalJSON keeps the JSON that the user wrote.
func (p *Providers) UnmarshalJSON(data []byte) error { return unmarshalRaw(data, &p.Raw) }

// MarshalJSON returns the JSON that the user wrote.
func (m ModelEntry) MarshalJSON() ([]byte, error) { return marshalRaw(m.Raw) }

// UnmarshalJSON keeps the JSON that the user wrote.
func (m *ModelEntry) UnmarshalJSON(data []byte) error { return unmarshalRaw(data, &m.Raw) }

// MarshalJSON returns the JSON that the user wrote.
func (t ToolEntry) MarshalJSON() ([]byte, error) { return marshalRaw(t.Raw) }

// UnmarshalJSON keeps the JSON that the user wrote.
func (t *ToolEntry) UnmarshalJSON(data []byte) error { return unmarshalRaw(data, &t.Raw) }

// MarshalJSON returns the JSON that the user wrote.
func (s ShieldEntry) MarshalJSON() ([]byte, error) { return marshalRaw(s.Raw) }

// UnmarshalJSON keeps the JSON that the user wrote.
func (s *ShieldEntry) UnmarshalJSON(data []byte) error { return unmarshalRaw(data, &s.Raw) }

// MarshalJSON returns the JSON that the user wrote.
func (e Expose) MarshalJSON() ([]byte, error) { return marshalRaw(e.Raw) }

// UnmarshalJSON keeps the JSON that the user wrote.
func (e *Expose) UnmarshalJSON(data []byte) error { return unmarshalRaw(data, &e.Raw) }

func marshalRaw(raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return jsonNull, nil
	}
	return raw, nil
}

// unmarshalRaw keeps the bytes without insignificant white space, so that values that differ only in white space are
// equal in every comparison and digest.
func unmarshalRaw(data []byte, raw *[]byte) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return fmt.Errorf("keep JSON value: %w", err)
	}
	*raw = compact.Bytes()
	return nil
}

// MarshalJSON writes the provider with its shorthand keys next to the named keys.
func (p Provider) MarshalJSON() ([]byte, error) {
	type named Provider
	data, err := json.Marshal(named(p))
	if err != nil || len(p.Shorthand) == 0 {
		return data, err
	}
	keys := make(map[string]json.RawMessage)
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, fmt.Errorf("merge shorthand keys: %w", err)
	}
	for name, ref := range p.Shorthand {
		if _, taken := keys[name]; taken {
			return nil, fmt.Errorf("shorthand key %q has the name of a provider field; set the field instead", name)
		}
		if keys[name], err = json.Marshal(ref); err != nil {
			return nil, fmt.Errorf("encode shorthand key %q: %w", name, err)
		}
	}
	return json.Marshal(keys)
}

// NewProviders wraps one provider in the single form.
func NewProviders(provider Provider) *Providers {
	return &Providers{Raw: mustMarshal(provider)}
}

// NewProviderList wraps providers in the list form.
func NewProviderList(providers ...Provider) *Providers {
	return &Providers{Raw: mustMarshal(providers)}
}

// NewModelName wraps a model's name.
func NewModelName(name string) ModelEntry { return ModelEntry{Raw: mustMarshal(name)} }

// NewModel wraps a model's object form.
func NewModel(model Model) ModelEntry { return ModelEntry{Raw: mustMarshal(model)} }

// NewExpose wraps the bool form.
func NewExpose(enabled bool) *Expose { return &Expose{Raw: mustMarshal(enabled)} }

// mustMarshal encodes a value, and panics if the encoding fails. The encoding fails only if the caller made a mistake:
// the shorthand of a Provider repeats a field, or the raw JSON is invalid.
func mustMarshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
