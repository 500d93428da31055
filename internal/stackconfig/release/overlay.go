package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// overlay is the hand-written file of a line.
type overlay struct {
	// Corrections are applied in order.
	Corrections []correction `json:"corrections"`
}

// correction changes one part of the extracted data, or adds what the package cannot tell.
type correction struct {
	// Of names the part: `release`, `runtime`, `tools`, `provider inference/remote::vllm`, `backend kv_redis`,
	// `store metadata`, `resource models`, `key VLLMInferenceAdapterConfig.base_url`.
	Of string `json:"of"`
	// Set holds the fields to set, as the data file has them; the others stay.
	Set json.RawMessage `json:"set"`
	// Reason says why the extracted data is not enough, and where the fact comes from.
	Reason string `json:"reason"`
	// Test names the test that shows it.
	Test string `json:"test"`
}

// decodeOverlay reads an overlay, strictly, and refuses a correction without reason or test.
func decodeOverlay(data []byte) (*overlay, error) {
	var o overlay
	if err := yaml.UnmarshalStrict(data, &o); err != nil {
		return nil, fmt.Errorf("decode overlay: %w", err)
	}
	for i, c := range o.Corrections {
		if c.Of == "" || len(c.Set) == 0 || c.Reason == "" || c.Test == "" {
			return nil, fmt.Errorf("decode overlay: correction %d (of %q) lacks of, set, reason or test", i, c.Of)
		}
	}
	return &o, nil
}

// apply changes the document as the overlay says.
func (o *overlay) apply(doc *document) error {
	for _, c := range o.Corrections {
		target, err := doc.part(c.Of)
		if err == nil {
			err = decodeStrict(c.Set, target)
		}
		if err != nil {
			return fmt.Errorf("correct %q: %w", c.Of, err)
		}
	}
	return nil
}

var errNoPart = errors.New("no such part")

// part returns a pointer to the part of the document that a correction names.
func (d *document) part(of string) (any, error) {
	kind, name, _ := strings.Cut(of, " ")
	switch kind {
	case "release":
		return d, nil
	case "runtime":
		return &d.Runtime, nil
	case "tools":
		return &d.Tools, nil
	case "provider":
		if row, ok := d.Providers[name]; ok {
			return row, nil
		}
	case "backend":
		if row, ok := d.Storage.Backends[name]; ok {
			return row, nil
		}
	case "store":
		return find(d.Storage.Stores, func(row *storeRow) bool { return row.Name == name })
	case "resource":
		return find(d.Resources, func(row *resourceRow) bool { return row.Kind == name })
	case "key":
		return d.key(name)
	}
	return nil, errNoPart
}

// key returns the row of `Class.key`; the class's own name may hold dots.
func (d *document) key(name string) (any, error) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil, errNoPart
	}
	class, ok := d.Classes[name[:dot]]
	if !ok {
		return nil, errNoPart
	}
	return find(class.Keys, func(row *keyRow) bool { return row.Name == name[dot+1:] })
}

func find[T any](rows []T, match func(*T) bool) (any, error) {
	for i := range rows {
		if match(&rows[i]) {
			return &rows[i], nil
		}
	}
	return nil, errNoPart
}
