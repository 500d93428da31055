package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
)

// imageReport describes what the operator reads from an image on each platform.
type imageReport struct {
	Image  string `json:"image"`
	Digest string `json:"digest"`
	// Taken reports whether the operator accepts the image on every platform.
	Taken  bool             `json:"taken"`
	Images []platformReport `json:"images"`
}

type platformReport struct {
	Platform string          `json:"platform,omitempty"`
	Config   *configReport   `json:"config,omitempty"`
	Release  *releaseReport  `json:"release,omitempty"`
	Provider *providerReport `json:"provider,omitempty"`
	// Entrypoint is the command that the image starts, if it is certain.
	Entrypoint []string `json:"entrypoint,omitempty"`
	// Verified lists the digests of the verified content. Each is named by the one before.
	Verified []partReport `json:"verified,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	Errors   []string     `json:"errors,omitempty"`
}

type configReport struct {
	Label string `json:"label"`
	// File is the path of the configuration in the layer.
	File   string `json:"file,omitempty"`
	Bytes  int    `json:"bytes"`
	Digest string `json:"digest"`
	// Version is the schema version.
	Version string `json:"version,omitempty"`
}

type releaseReport struct {
	// Version is the known version of the server. Line is the release line whose data the checks use.
	Version string `json:"version,omitempty"`
	Line    string `json:"line"`
	From    string `json:"from"`
	Label   string `json:"label,omitempty"`
}

type providerReport struct {
	API     string `json:"api"`
	Type    string `json:"type"`
	Module  string `json:"module"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Vendor  string `json:"vendor"`
	Schema  bool   `json:"configSchema"`
}

type partReport struct {
	Kind   string `json:"kind"`
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
}

// reportOf checks the content of an image as the operator does. tag is the image's tag; it is empty if there is none.
func reportOf(read *registry.Details, tag, written string) platformReport {
	one := platformReport{Platform: read.Platform, Entrypoint: read.Entrypoint}
	for _, part := range read.Parts {
		one.Verified = append(one.Verified, partReport{part.Kind, part.Digest, part.Size})
	}
	one.checkProvider(read.Provider)
	resolved, err := releaseOf(read, tag, written)
	if err != nil {
		one.Errors = append(one.Errors, err.Error())
		return one
	}
	if read.Config != nil {
		one.checkConfig(read, &resolved)
	}
	if read.Config != nil || read.Release != "" {
		one.Release = &releaseReport{
			Version: resolved.Version, Line: resolved.Release.Line, From: string(resolved.DetectedBy),
		}
		if resolved.DetectedBy == distribution.ByLabel {
			one.Release.Label = read.ReleaseLabel
		}
	}
	return one
}

// requireLabels rejects an image without labels.
func (r *platformReport) requireLabels() {
	if r.Config == nil && r.Provider == nil && len(r.Errors) == 0 {
		r.Errors = append(r.Errors, fmt.Sprintf("the image has none of the labels %s, %s and %s: the operator finds "+
			"neither a configuration nor an external provider in it; run kubectl llamastack image label to write them",
			registry.LabelBase64, registry.LabelLayer, registry.LabelProvider))
	}
}

// releaseOf determines the release of the server as the operator does.
func releaseOf(read *registry.Details, tag, written string) (distribution.Resolved, error) {
	named := "image"
	if tag != "" {
		named += ":" + tag
	}
	resolved, err := distribution.Resolve("", named, "", nil)
	if err == nil {
		resolved, err = resolved.WithLabel(read.Release, read.ReleaseLabel == registry.LabelRelease)
	}
	resolved.Image = written
	return resolved, err
}

// checkConfig applies the checks of the image's release to the configuration.
func (r *platformReport) checkConfig(read *registry.Details, resolved *distribution.Resolved) {
	sum := sha256.Sum256(read.Config)
	r.Config = &configReport{
		Label: read.ConfigLabel, Bytes: len(read.Config), Digest: "sha256:" + hex.EncodeToString(sum[:]),
	}
	if read.ConfigFile != "" {
		r.Config.File = "/" + read.ConfigFile
	}
	checked, err := plan.CheckBase(read.Config, resolved)
	r.Config.Version = checked.Version
	for _, warning := range checked.Warnings {
		r.Warnings = append(r.Warnings, warning.String())
	}
	if read.ConfigVersion != "" && checked.Version != "" && read.ConfigVersion != checked.Version {
		r.Warnings = append(r.Warnings, fmt.Sprintf("label %q contains version %s, but the configuration has version %s; "+
			"the operator uses the latter",
			registry.LabelConfigVersion, read.ConfigVersion, checked.Version))
	}
	failed, ok := errors.AsType[*plan.ConfigError](err)
	switch {
	case ok && len(failed.Errors) > 0:
		for _, finding := range failed.Errors {
			r.Errors = append(r.Errors, intent.Message(finding))
		}
	case err != nil:
		r.Errors = append(r.Errors, err.Error())
	}
}

// checkProvider reads the metadata of an external provider.
func (r *platformReport) checkProvider(label string) {
	if label == "" {
		return
	}
	found, err := externalprovider.FromLabel(label)
	if err != nil {
		r.Errors = append(r.Errors, err.Error())
		return
	}
	r.Provider = &providerReport{
		API: found.API, Type: found.Type, Module: found.Module, Name: found.Name, Version: found.Version,
		Vendor: found.Vendor,
		Schema: found.ConfigSchema != nil,
	}
}

// refused returns the number of platforms whose image the operator would reject.
func (r *imageReport) refused() int {
	count := 0
	for i := range r.Images {
		if len(r.Images[i].Errors) > 0 {
			count++
		}
	}
	return count
}

// verdict reports all problems and warnings.
func (r *imageReport) verdict(p printer) error {
	r.tell(p.warning, func(one *platformReport) []string { return one.Warnings })
	r.tell(p.problem, func(one *platformReport) []string { return one.Errors })
	if count := r.refused(); count > 0 {
		return &rejection{summary: fmt.Sprintf("the operator would not accept %d of %d images", count, len(r.Images))}
	}
	return nil
}

// tell prints each text once if it applies to every platform. Otherwise it prints the text with the platform.
func (r *imageReport) tell(say func(string), of func(*platformReport) []string) {
	counts := map[string]int{}
	for i := range r.Images {
		for _, text := range of(&r.Images[i]) {
			counts[text]++
		}
	}
	for i := range r.Images {
		for _, text := range of(&r.Images[i]) {
			everywhere := counts[text] == len(r.Images)
			switch {
			case everywhere && i == 0, !everywhere && r.Images[i].Platform == "":
				say(r.Image + ": " + text)
			case !everywhere:
				say(r.Image + ": " + r.Images[i].Platform + ": " + text)
			}
		}
	}
}

// write writes the report in readable form.
func (r *imageReport) write(page *bytes.Buffer) {
	writeTable(page, [][]string{{"IMAGE", r.Image}, {"DIGEST", r.Digest}})
	for i := range r.Images {
		page.WriteByte('\n')
		writeTable(page, r.Images[i].rows())
	}
}

func (r *platformReport) rows() [][]string {
	var rows [][]string
	add := func(head, text string) {
		if text != "" {
			rows = append(rows, []string{head, text})
		}
	}
	add("PLATFORM", r.Platform)
	if c := r.Config; c != nil {
		text := fmt.Sprintf("%d bytes, version %s, from label %s", c.Bytes, dash(c.Version), c.Label)
		if c.File != "" {
			text += ", file " + c.File
		}
		add("CONFIG", text)
	}
	if found := r.Release; found != nil {
		text := dash(found.Version) + ", from " + found.From
		if found.Label != "" {
			text += " " + found.Label
		}
		add("RELEASE", text)
	}
	if found := r.Provider; found != nil {
		add("PROVIDER", fmt.Sprintf("%s of %s, module %s, package %s %s by %s", found.Type, found.API, found.Module, found.Name, found.Version, found.Vendor))
	}
	add("ENTRYPOINT", strings.Join(r.Entrypoint, " "))
	for i, part := range r.Verified {
		head := ""
		if i == 0 {
			head = "VERIFIED"
		}
		rows = append(rows, []string{head, fmt.Sprintf("%s, %s, %d bytes", part.Digest, part.Kind, part.Bytes)})
	}
	add("CHECKS", r.checks())
	return rows
}

// checks returns the outcome of the checks in a word.
func (r *platformReport) checks() string {
	switch {
	case len(r.Errors) == 1:
		return "1 error"
	case len(r.Errors) > 1:
		return fmt.Sprintf("%d errors", len(r.Errors))
	case r.Config != nil:
		return "fits release " + r.Release.Line
	default:
		return "the metadata is valid"
	}
}
