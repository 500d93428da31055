package main

import (
	"regexp"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/entries"
)

var (
	pageLink       = regexp.MustCompile(`\[([^\]]+)\]\(#([a-z0-9-]+)\)`)
	sectionHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// relink repairs the links that do not lead to a section of the page. crd-ref-docs writes such links for types in other
// packages, and for types that have no section because users never see their names. If the newer version's page has the
// section, the link leads to that page. Any other link becomes plain text.
func relink(page, newer, newerFile string) string {
	own, others := anchorsOf(page), anchorsOf(newer)
	return pageLink.ReplaceAllStringFunc(page, func(link string) string {
		match := pageLink.FindStringSubmatch(link)
		switch text, anchor := match[1], match[2]; {
		case own[anchor]:
			return link
		case others[anchor]:
			return "[" + text + "](" + newerFile + "#" + anchor + ")"
		default:
			return text
		}
	})
}

// anchorsOf returns the anchors of the headings.
func anchorsOf(page string) map[string]bool {
	anchors := map[string]bool{}
	for _, match := range sectionHeading.FindAllStringSubmatch(page, -1) {
		anchors[entries.Anchor(match[1])] = true
	}
	return anchors
}
