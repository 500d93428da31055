package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

type providersOptions struct {
	release string
	api     string
	output  string
}

// Command returns the command providers.
func Command(streams app.Streams) *cobra.Command {
	options := providersOptions{}
	command := &cobra.Command{
		Use:   "providers [TYPE]",
		Short: "List the provider types in a server release, or the keys of one type",
		Long: `List the provider types in a server release. The list shows the keys that the fields
endpoint and apiKey set, and the other keys that a type requires. If you specify the
short or full name of a type, the command lists the keys of its settings. For each key,
this list shows the type, the default, and whether the key is required or secret.`,
		Example: `  kubectl llamastack providers --api inference

  # list every key of one type in an older release
  kubectl llamastack providers vllm --release 0.3`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runProviders(streams.Out, options, args) },
	}
	command.Flags().StringVar(&options.release, "release", release.DefaultLine(), "server release, for example 0.7 or 0.7.3")
	command.Flags().StringVar(&options.api, "api", "", "API whose types are listed, for example inference or vectorIo (default: all APIs)")
	command.Flags().StringVarP(&options.output, "output", "o", app.FormTable, "table, json or yaml")
	app.CompleteReleases(command, "release")
	app.Must(command.RegisterFlagCompletionFunc("api",
		app.Completed(func(c *cobra.Command) []string { return camelCased(apisOf(askedRelease(c))) })))
	command.ValidArgsFunction = completeProviderTypes
	return command
}

// providerType is a provider type in the output.
type providerType struct {
	API        string `json:"api"`
	Type       string `json:"type"`
	Endpoint   string `json:"endpointKey,omitempty"`
	Credential string `json:"credentialKey,omitempty"`
	// Required lists the keys that the user must set, other than Endpoint and Credential.
	Required []string      `json:"required,omitempty"`
	Needs    []string      `json:"needsAPIs,omitempty"`
	Note     string        `json:"note,omitempty"`
	Keys     []providerKey `json:"keys"`
}

type providerKey struct {
	Key      string   `json:"key"`
	Aliases  []string `json:"aliases,omitempty"`
	Type     string   `json:"type"`
	Required bool     `json:"required,omitempty"`
	Secret   bool     `json:"secret,omitempty"`
	Default  any      `json:"default,omitempty"`
	// Supplied reports whether the operator sets a value if the user sets none.
	Supplied bool `json:"supplied,omitempty"`
}

func runProviders(out io.Writer, options providersOptions, args []string) error {
	if err := app.CheckForm(options.output); err != nil {
		return err
	}
	match, err := release.Lookup(options.release)
	if err != nil {
		return fmt.Errorf("--release: %w", err)
	}
	apis, err := chosenAPIs(match.Release, options.api)
	if err != nil {
		return err
	}
	found := chosenTypes(match.Release, apis, args)
	if len(found) == 0 && len(args) == 1 {
		return unknownType(match.Release, options.api, args[0])
	}
	table := writeKeys
	if len(args) == 0 {
		table = writeTypes
	}
	var page bytes.Buffer
	err = app.WriteForm(&page, options.output, found, func(page *bytes.Buffer) { table(page, found) })
	if err == nil {
		_, err = page.WriteTo(out)
	}
	return err
}

// chosenAPIs returns the API in --api, or all APIs with providers.
func chosenAPIs(rel *release.Release, asked string) ([]string, error) {
	apis := apisOf(rel)
	if asked == "" {
		return apis, nil
	}
	name := draft.APIName(asked)
	if slices.Contains(apis, name) {
		return []string{name}, nil
	}
	remedy := "use one of " + strings.Join(camelCased(apis), ", ")
	if nearest := suggest.Nearest(name, apis); nearest != "" {
		remedy = fmt.Sprintf("did you mean %q?", draft.APIField(nearest))
	}
	if line, ok := release.LineWithAPI(rel.Line, name); ok && release.Compare(line, rel.Line) > 0 {
		remedy = "use release " + line + ", the first release with this API"
	}
	if gone, ok := rel.Removal("api", name); ok {
		remedy = gone.Note()
	}
	return nil, fmt.Errorf("--api: server release %s has no API %q with providers; %s", rel.Line, asked, remedy)
}

func camelCased(apis []string) []string {
	names := make([]string, 0, len(apis))
	for _, api := range apis {
		names = append(names, draft.APIField(api))
	}
	return names
}

// chosenTypes returns the types with the given name in the APIs. Without a name, it returns all types of the APIs.
func chosenTypes(rel *release.Release, apis, args []string) []providerType {
	found := []providerType{}
	for _, api := range apis {
		for _, name := range rel.ProviderTypes(api) {
			kind, ok := rel.Provider(api, name)
			if ok && (len(args) == 0 || args[0] == kind.Type || args[0] == kind.Short()) {
				found = append(found, describe(kind))
			}
		}
	}
	return found
}

// unknownType returns the error for an unknown type. The error names the releases that have the type. If no release has
// the type, the error names a similar type if there is one. Without an API, the function searches the types of all
// APIs.
func unknownType(rel *release.Release, api, name string) error {
	message := fmt.Sprintf("server release %s has no provider type %q", rel.Line, name)
	apis := release.KnownAPIs()
	if api != "" {
		apis = []string{draft.APIName(api)}
	}
	for _, api := range apis {
		if lines := release.LinesWith(api, name); len(lines) > 0 {
			return fmt.Errorf("%s; use one of the releases with this type: %s", message, strings.Join(lines, ", "))
		}
	}
	for _, api := range apis {
		if nearest := rel.NearestType(api, name); nearest != "" {
			return fmt.Errorf("%s; did you mean %q?", message, nearest)
		}
	}
	for _, api := range apis {
		if nearest := release.NearestTypeOfAny(api, name); nearest != "" {
			return fmt.Errorf("%s; %q exists in these releases: %s", message, nearest, strings.Join(release.LinesWith(api, nearest), ", "))
		}
	}
	return fmt.Errorf("%s; to list the types, run kubectl llamastack providers --release %s", message, rel.Line)
}

func describe(kind *provider.Type) providerType {
	result := providerType{
		API: draft.APIField(kind.API), Type: kind.Type, Endpoint: kind.EndpointKey, Credential: kind.CredentialKey,
		Needs: camelCased(kind.Requires), Note: note(kind), Keys: []providerKey{},
	}
	for i := range kind.Config.Keys {
		key := &kind.Config.Keys[i]
		if key.Internal {
			continue
		}
		row := providerKey{
			Key: key.Name, Aliases: key.Aliases, Type: key.Type.String(), Required: key.Required, Secret: key.Secret,
			Supplied: slices.ContainsFunc(kind.RequiredDefaults, func(d provider.Default) bool { return d.Key == key.Name }),
		}
		if !key.Required && !key.Secret {
			row.Default = key.Default
		}
		if row.Required && !row.Supplied && row.Key != kind.EndpointKey && row.Key != kind.CredentialKey {
			result.Required = append(result.Required, row.Key)
		}
		result.Keys = append(result.Keys, row)
	}
	return result
}

// note returns a remark about a type, or "".
func note(kind *provider.Type) string {
	switch {
	case kind.Broken != "":
		return "does not start in this release; " + kind.Broken
	case kind.Deprecated != "":
		return "deprecated: " + kind.Deprecated
	case kind.EndpointIgnored:
		return "calls the public service and ignores the field endpoint"
	default:
		return ""
	}
}

func writeTypes(page *bytes.Buffer, types []providerType) {
	rows := [][]string{{"API", "TYPE", "ENDPOINT", "APIKEY", "ALSO REQUIRED", "NOTE"}}
	for _, kind := range types {
		rows = append(rows, []string{
			kind.API, kind.Type, app.Dash(kind.Endpoint), app.Dash(kind.Credential),
			app.Dash(strings.Join(kind.Required, ", ")), kind.Note,
		})
	}
	app.WriteTable(page, rows)
}

func writeKeys(page *bytes.Buffer, types []providerType) {
	for i, kind := range types {
		if i > 0 {
			page.WriteByte('\n')
		}
		head := [][]string{{"API:", kind.API}, {"Type:", kind.Type}}
		for _, fact := range [][]string{
			{"endpoint is:", kind.Endpoint},
			{"apiKey is:", kind.Credential},
			{"Needs the APIs:", strings.Join(kind.Needs, ", ")},
			{"Note:", kind.Note},
		} {
			if fact[1] != "" {
				head = append(head, fact)
			}
		}
		rows := [][]string{{"KEY", "TYPE", "REQUIRED", "SECRET", "DEFAULT"}}
		for _, key := range kind.Keys {
			rows = append(rows, []string{key.Key, key.Type, key.required(), yes(key.Secret), key.defaultText()})
		}
		app.WriteTable(page, head)
		if len(rows) == 1 {
			rows = [][]string{{"The type has no keys."}}
		}
		app.WriteTable(page, rows)
	}
}

func (k providerKey) required() string {
	if k.Required && k.Supplied {
		return "supplied"
	}
	return yes(k.Required)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

func (k providerKey) defaultText() string {
	if k.Default == nil {
		return "-"
	}
	data, err := json.Marshal(k.Default)
	if err != nil {
		return "-"
	}
	return app.Shortened(string(data))
}
