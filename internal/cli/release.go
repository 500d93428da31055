package cli

import "github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"

// runOn sets the server release of every decoded stack. An empty release changes nothing.
func runOn(m *dryrun.Manifests, release string) error {
	for i := range m.Stacks {
		if release == "" || !m.Stacks[i].Decoded {
			continue
		}
		changed, err := dryrun.WithRelease(m.Stacks[i].Object, release)
		if err != nil {
			return &rejection{problems: []string{m.Stacks[i].Title() + ": " + err.Error()}, summary: "nothing was rendered"}
		}
		m.Stacks[i].Object = changed
	}
	return nil
}
