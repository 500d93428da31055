package convert

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/manifest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/ogxserver"
)

// wrongForeignKind returns the problem with a misspelled kind OGXServer, or with a missing or different kind in its API
// group. It returns "" if there is no problem.
func wrongForeignKind(meta metav1.TypeMeta) string {
	group, _, _ := strings.Cut(meta.APIVersion, "/")
	switch {
	case meta.Kind == ogxserver.Kind:
		return ""
	case meta.Kind == "" && group == ogxserver.Group:
		return "kind: required; set " + ogxserver.Kind
	case group == ogxserver.Group, strings.EqualFold(meta.Kind, ogxserver.Kind):
		return fmt.Sprintf("kind: this command does not convert the kind %q; use %s", meta.Kind, ogxserver.Kind)
	default:
		return ""
	}
}

// ogxServer writes an OGXServer as a stack.
func (c *converter) ogxServer(doc document.Document) error {
	object, problems := readOGXServer(doc, c.to)
	name := ""
	if metadata, _ := object["metadata"].(map[string]any); metadata["name"] != nil {
		name = fmt.Sprint(metadata["name"])
	}
	title, ok := c.begin(doc, name, problems)
	if !ok {
		return nil
	}
	page, warnings, err := writeOGXServer(doc, object)
	if err != nil {
		return fmt.Errorf("convert %s: %w", title, err)
	}
	c.end(title, page, warnings)
	return nil
}

// readOGXServer returns an OGXServer as JSON values, and its problems.
func readOGXServer(doc document.Document, to string) (object map[string]any, problems []string) {
	if doc.Problem != "" {
		problems = append(problems, doc.Problem)
	}
	if want := v1alpha2.GroupVersion.String(); to != want {
		problems = append(problems, fmt.Sprintf("kind: an %s can only be converted to %s; remove --to", ogxserver.Kind, want))
	}
	if err := dryrun.DecodeNumbers(doc.Data, &object); err != nil {
		return nil, append(problems, "is not valid JSON: "+err.Error())
	}
	if object["kind"] == nil { // an item of a typed list need not contain its kind
		object["kind"], object["apiVersion"] = doc.Meta.Kind, doc.Meta.APIVersion
	}
	return object, append(problems, ogxserver.Check(object)...)
}

// writeOGXServer returns the manifest of the stack that replaces an OGXServer.
func writeOGXServer(doc document.Document, object map[string]any) (page []byte, warnings []string, err error) {
	result := ogxserver.Convert(object)
	foreign := manifest.Foreign{
		Object: result.Object, From: ogxserver.APIVersion + " " + ogxserver.Kind, Place: result.Place,
		LeftOut: result.LeftOut, Text: yamlOf(doc),
	}
	for _, comment := range result.Comments {
		foreign.Comments = append(foreign.Comments, manifest.Comment(comment))
	}
	page, err = manifest.WriteForeign(foreign)
	return page, result.Warnings, err
}
