package release

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// document is the decoded content of a data file. The function build creates a Release from it.
type document struct {
	Line       string        `json:"line"`
	Version    string        `json:"version"`
	Covers     []string      `json:"covers"`
	Package    string        `json:"package"`
	Module     string        `json:"module"`
	Runtime    Runtime       `json:"runtime"`
	APIs       []API         `json:"apis"`
	TopLevel   string        `json:"top_level"`
	Server     string        `json:"server"`
	Storage    storageRow    `json:"storage"`
	Resources  []resourceRow `json:"resources"`
	References []Reference   `json:"references"`
	// ModelSettings adds the facts that only the checks need to References, keyed by path.
	ModelSettings map[string]modelSetting     `json:"model_settings"`
	Tools         toolsRow                    `json:"tools"`
	Registry      Registry                    `json:"registry"`
	Offline       offlineRow                  `json:"offline"`
	Providers     map[string]*providerRow     `json:"providers"`
	Distributions map[string]*distributionRow `json:"distributions"`
	Classes       map[string]*classRow        `json:"classes"`
}

// modelSetting describes a setting that names a model.
type modelSetting struct {
	ModelType      string `json:"model_type"`
	CheckedAtStart bool   `json:"checked_at_start"`
}

type storageRow struct {
	Inline   bool                   `json:"inline"`
	Required bool                   `json:"required"`
	Backends map[string]*backendRow `json:"backends"`
	Stores   []storeRow             `json:"stores"`
}

type backendRow struct {
	Class               string `json:"class"`
	Family              string `json:"family"`
	Type                string `json:"type"`
	NeedsDirectory      bool   `json:"needs_directory"`
	CredentialKey       string `json:"credential_key"`
	CredentialInHost    bool   `json:"credential_in_host"`
	ConnectionStringKey string `json:"connection_string_key"`
	EncodePassword      bool   `json:"encode_password"`
}

type storeRow struct {
	Name         string          `json:"name"`
	Key          string          `json:"key"`
	Class        string          `json:"class"`
	Family       string          `json:"family"`
	Default      json.RawMessage `json:"default"`
	Required     bool            `json:"required"`
	RequiredWith []string        `json:"required_with"`
	RequiredBy   string          `json:"required_by"`
	ListOf       string          `json:"list_of"`
}

type resourceRow struct {
	Kind          string `json:"kind"`
	Section       string `json:"section"`
	Class         string `json:"class"`
	IDKey         string `json:"id_key"`
	ProviderIDKey string `json:"provider_id_key"`
	NeedsProvider bool   `json:"needs_provider"`
	API           string `json:"api"`
	PublicID      string `json:"public_id"`
	PublicAlias   string `json:"public_alias"`
	AnyProvider   string `json:"any_provider"`
	PrefixOnce    bool   `json:"prefix_once"`
	RegistryType  string `json:"registry_type"`
	ListedAgain   bool   `json:"listed_again"`
	Dropped       bool   `json:"dropped"`
	Instead       string `json:"instead"`
}

type toolsRow struct {
	MCP         string              `json:"mcp"`
	MCPURLKey   string              `json:"mcp_url_key"`
	MCPProvider string              `json:"mcp_provider"`
	Names       map[string]string   `json:"names"`
	Providers   map[string][]string `json:"providers"`
	Automatic   bool                `json:"automatic"`
}

type providerRow struct {
	Config             string         `json:"config"`
	Broken             string         `json:"broken"`
	KeptForm           string         `json:"kept_form"`
	EndpointKey        string         `json:"endpoint_key"`
	EndpointIgnored    bool           `json:"endpoint_ignored"`
	EndpointNeeded     bool           `json:"endpoint_needed"`
	EndpointPath       string         `json:"endpoint_path"`
	PortKey            string         `json:"port_key"`
	CredentialKey      string         `json:"credential_key"`
	CredentialOptional bool           `json:"credential_optional"`
	InMemory           bool           `json:"in_memory"`
	RegionKey          string         `json:"region_key"`
	ResourceIDs        []string       `json:"resource_ids"`
	RegistersNothing   bool           `json:"registers_nothing"`
	ResourceNeeds      string         `json:"resource_needs"`
	Serves             []string       `json:"serves"`
	Lists              provider.Lists `json:"lists"`
	RequiredDefaults   []defaultRow   `json:"required_defaults"`
	Requires           []string       `json:"requires"`
	Optional           []string       `json:"optional"`
	Packages           []string       `json:"packages"`
	ToolGroup          string         `json:"tool_group"`
	Deprecated         string         `json:"deprecated"`
}

type defaultRow struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// earlierDocument is a data file with a distribution that only earlier releases of a line ship.
type earlierDocument struct {
	Line          string                      `json:"line"`
	Version       string                      `json:"version"`
	Distributions map[string]*distributionRow `json:"distributions"`
}

type distributionRow struct {
	Variables []Variable      `json:"variables"`
	Config    json.RawMessage `json:"config"`
}

type classRow struct {
	Extra schema.Extra  `json:"extra"`
	Keys  []keyRow      `json:"keys"`
	Rules []schema.Rule `json:"rules"`
	// BackendFamily is the family of the backends that the key `backend` may name.
	BackendFamily string `json:"backend_family"`
}

type keyRow struct {
	Name             string          `json:"name"`
	Aliases          []string        `json:"aliases"`
	Type             string          `json:"type"`
	Required         bool            `json:"required"`
	Default          json.RawMessage `json:"default"`
	DefaultVariables []string        `json:"default_variables"`
	Secret           bool            `json:"secret"`
	Deprecated       bool            `json:"deprecated"`
	Internal         bool            `json:"internal"`
	Limits           *schema.Limits  `json:"limits"`
}

// decode reads a data file. It does not check for unknown fields, because the check would increase the loading time by
// half. A test checks that the files have no unknown fields.
func decode(data []byte) (*document, error) {
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("decode release data: %w", err)
	}
	if doc.Line == "" || doc.Version == "" {
		return nil, fmt.Errorf("decode release data: line %q or version %q is empty", doc.Line, doc.Version)
	}
	return &doc, nil
}

func decodeStrict(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
