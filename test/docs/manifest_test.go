package docs

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/runner"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

var (
	documentEnd = regexp.MustCompile(`(?m)^---[ \t]*$`)
	hasVersion  = regexp.MustCompile(`(?m)^apiVersion:`)
	isStack     = regexp.MustCompile(`(?m)^apiVersion: *llamastack\.io/`)
)

// checkManifests sends the Kubernetes objects on a page to the API server, unless a command on the page applies them.
// Stacks have their own test, which does not need an API server.
func (s *site) checkManifests(t *testing.T, result *runner.Result, parsed *script.Page, kubeconfig string) {
	t.Helper()
	for i := range parsed.Blocks {
		block := &parsed.Blocks[i]
		if block.Language != "yaml" || block.Where == script.Nowhere || block.Invalid || isUsed(parsed, block) {
			continue
		}
		for _, document := range documentEnd.Split(block.Text, -1) {
			if !hasVersion.MatchString(document) || isStack.MatchString(document) {
				continue
			}
			expectOperatorConfig(t, document)
			command := exec.CommandContext(t.Context(), testutil.Kubectl(), "--kubeconfig="+kubeconfig, "apply",
				"--dry-run=server", "--validate=strict", "--filename=-")
			command.Stdin = strings.NewReader(document)
			if output, err := command.CombinedOutput(); err != nil {
				result.Failures = append(result.Failures, runner.Failure{
					Line: block.Line,
					Text: fmt.Sprintf("the API server rejects the manifest: %v\n%s", err, output),
				})
			}
		}
	}
}

// isUsed reports whether a command in a gate block contains the file name of a block.
func isUsed(parsed *script.Page, block *script.Block) bool {
	if block.Title == "" {
		return false
	}
	for i := range parsed.Blocks {
		for _, command := range parsed.Blocks[i].Commands {
			if parsed.Blocks[i].Where == script.Gate && strings.Contains(command.Text, block.Title) {
				return true
			}
		}
	}
	return false
}

// expectOperatorConfig checks the values in the operator's ConfigMap, because the API server does not check them.
func expectOperatorConfig(t *testing.T, document string) {
	t.Helper()
	var config corev1.ConfigMap
	if err := yaml.Unmarshal([]byte(document), &config); err != nil || config.Kind != "ConfigMap" {
		return
	}
	if config.Name == names.OperatorConfigMap {
		expectConfig(t, config.Data)
	}
}
