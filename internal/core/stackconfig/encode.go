package stackconfig

import (
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// header returns the comment at the top of the file. Its content does not depend on the version of the operator, the
// time or the digest of an image, because a changed configuration restarts the pods.
func header(d *draft.Draft) string {
	what := d.Intent.Distribution.Name
	if what == "" {
		what, _, _ = strings.Cut(d.Intent.Distribution.Image, "@")
	}
	line := d.Release.Line
	if d.Unknown {
		line = "not known, configured as " + line
	}
	return fmt.Sprintf("# LlamaStackDistribution: %s\n# Distribution: %s\n# Server release: %s\n"+
		"# Generated. Change the LlamaStackDistribution, not this file.\n", oneLine(d.Intent.Name), oneLine(what), line)
}

// oneLine replaces the characters outside printable ASCII, so that a name with a line break cannot end the comment.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

func providerCount(d *draft.Draft) int {
	count := 0
	for _, e := range d.Index.Providers {
		if e.Enabled {
			count++
		}
	}
	return count
}

// resourceCount counts the registered resources, except those that depend on a condition that the spec does not meet.
func resourceCount(d *draft.Draft) int {
	count := 0
	for _, known := range d.Release.Resources() {
		if known.Dropped {
			continue
		}
		for _, item := range yamlnode.Items(d.ResourcesOf(known)) {
			if d.Registers(known, item) {
				count++
			}
		}
	}
	return count
}
