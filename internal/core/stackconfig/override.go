package stackconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/external"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// OverrideExternal returns a user's complete configuration, in.Base, with the external providers of the spec. Each
// external provider replaces the provider with the same API and ID, or is added after the other providers of its API.
// Everything else is unchanged, except that comments are removed, and that aliases and merge keys are expanded. If the
// Report contains errors, the Result is nil. Otherwise, the Result contains only the configuration, the hash, the
// variables of the external providers, and the external providers. The Report is never nil.
func OverrideExternal(in Input) (*Result, *draft.Report) {
	d := draft.New(in.Base, in.Intent, in.Release, in.Directory)
	d.Published = in.Published
	draft.Resolve(d)
	installed := external.Apply(d, in.Packages)
	check.External(d)
	report := d.Finish()
	if len(report.Errors) > 0 {
		return nil, report
	}
	config := yamlnode.Encode(d.Root, "")
	sum := sha256.Sum256(config)
	return &Result{Config: config, Hash: hex.EncodeToString(sum[:]), Env: d.Variables(), External: installed}, report
}

// OverrideCopy returns a user's complete configuration with two changes: the number of workers, if it is greater than
// 1, and the paths of the certificate and its key, if the spec names a certificate. The server reads these values only
// from its configuration. Everything else is unchanged, except that comments are removed, and that aliases and merge
// keys are expanded.
func OverrideCopy(data []byte, server intent.Server) ([]byte, error) {
	root, err := baseconfig.Read(data)
	if err != nil {
		return nil, fmt.Errorf("override config: %w", err)
	}
	root = yamlnode.Clone(root)
	section := yamlnode.Get(root, "server")
	if yamlnode.IsNull(section) {
		section = yamlnode.Map()
		yamlnode.Set(root, "server", section)
	}
	if section.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("override config: server must be a mapping, got %s", baseconfig.KindOf(section))
	}
	if server.Workers > 1 {
		yamlnode.Set(section, "workers", yamlnode.Int(int64(server.Workers)))
	}
	if server.TLS != nil {
		yamlnode.Set(section, keyCertificate, yamlnode.String(names.TLSDir+"/"+names.TLSCertificate))
		yamlnode.Set(section, keyKey, yamlnode.String(names.TLSDir+"/"+names.TLSKey))
	}
	return yamlnode.Encode(root, ""), nil
}
