package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// imageReport describes the data that the operator reads from an image for each platform.
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
	// Entrypoint is the command that the image starts. It is empty if the command cannot be determined.
	Entrypoint []string `json:"entrypoint,omitempty"`
	// Verified lists the digests of the verified content. The content of each entry refers to the content of the next
	// entry.
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
	// Version is the version of the schema.
	Version string `json:"version,omitempty"`
	// content is the configuration itself. Reports do not contain it, because it can contain credentials.
	content []byte
}

type releaseReport struct {
	// Version is the version of the server, if it is known. Line is the release line whose data the checks use.
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

// reportOf checks the content of an image as the operator does. `tag` is the tag of the image, or "".
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

// requireLabels rejects an image that contains neither a configuration nor an external provider.
func (r *platformReport) requireLabels() {
	if r.Config == nil && r.Provider == nil && len(r.Errors) == 0 {
		r.Errors = append(r.Errors, fmt.Sprintf("the image has none of the labels %s, %s and %s, so it contains "+
			"neither a configuration nor an external provider; run kubectl llamastack image label to write the labels",
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
		resolved = resolved.WithLabel(read.Release, read.ReleaseLabel == registry.LabelRelease)
	}
	resolved.Image = written
	return resolved, err
}

// checkConfig applies the checks for the image's release to the configuration.
func (r *platformReport) checkConfig(read *registry.Details, resolved *distribution.Resolved) {
	sum := sha256.Sum256(read.Config)
	r.Config = &configReport{
		Label: read.ConfigLabel, Bytes: len(read.Config), Digest: "sha256:" + hex.EncodeToString(sum[:]),
		content: read.Config,
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
			"the operator uses the version of the configuration; correct the label", registry.LabelConfigVersion, read.ConfigVersion,
			checked.Version))
	}
	r.refuse(err)
}

// refuse records an error, or each finding of an invalid configuration.
func (r *platformReport) refuse(err error) {
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

// refused returns the number of platforms for which the operator would reject the image.
func (r *imageReport) refused() int {
	count := 0
	for i := range r.Images {
		if len(r.Images[i].Errors) > 0 {
			count++
		}
	}
	return count
}

// verdict prints all warnings and errors. It returns an error if the operator would reject the image.
func (r *imageReport) verdict(p app.Printer) error {
	r.messages(p.Warning, func(one *platformReport) []string { return one.Warnings })
	r.messages(p.Problem, func(one *platformReport) []string { return one.Errors })
	if count := r.refused(); count > 0 {
		return &app.Rejection{Summary: fmt.Sprintf("images that the operator would not accept: %d of %d", count, len(r.Images))}
	}
	return nil
}

// print prints the report, and then the warnings and errors.
func (r *imageReport) print(out io.Writer, form string, p app.Printer) error {
	var page bytes.Buffer
	if form == formConfig {
		if err := r.writeConfig(&page); err != nil {
			return err
		}
	} else if err := app.WriteForm(&page, form, r, r.write); err != nil {
		return err
	}
	if _, err := page.WriteTo(out); err != nil {
		return err
	}
	return r.verdict(p)
}

// writeConfig writes the configuration. It returns an error if there is none, or if it depends on the platform.
func (r *imageReport) writeConfig(page *bytes.Buffer) error {
	for i := range r.Images {
		config := r.Images[i].Config
		switch {
		case config == nil:
		case page.Len() == 0:
			page.Write(config.content)
		case !bytes.Equal(page.Bytes(), config.content):
			return fmt.Errorf("%s: the platforms of the image have different configurations; set --platform to one of them", r.Image)
		}
	}
	if page.Len() == 0 && r.refused() == 0 {
		return fmt.Errorf("%s: the image contains no configuration; run kubectl llamastack image label to add one", r.Image)
	}
	return nil
}

// messages prints remarks about the image. If a remark applies to every platform, messages prints it only once. It
// prints any other remark with the platform, if the platform is known.
func (r *imageReport) messages(line func(string), of func(*platformReport) []string) {
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
				line(r.Image + ": " + text)
			case !everywhere:
				line(r.Image + ": " + r.Images[i].Platform + ": " + text)
			}
		}
	}
}

// write writes the report as tables.
func (r *imageReport) write(page *bytes.Buffer) {
	app.WriteTable(page, [][]string{{"IMAGE", r.Image}, {"DIGEST", r.Digest}})
	for i := range r.Images {
		page.WriteByte('\n')
		app.WriteTable(page, r.Images[i].rows())
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
	if r.Config != nil {
		add("CONFIG", r.Config.text())
	}
	if r.Release != nil {
		add("RELEASE", r.Release.text())
	}
	if found := r.Provider; found != nil {
		add("PROVIDER", fmt.Sprintf("%s of %s, module %s, package %s %s by %s", found.Type, found.API, found.Module, found.Name, found.Version, found.Vendor))
	}
	add("ENTRYPOINT", strings.Join(r.Entrypoint, " "))
	rows = append(rows, r.verifiedRows()...)
	add("CHECKS", r.checks())
	return rows
}

func (r *platformReport) verifiedRows() [][]string {
	var rows [][]string
	for i, part := range r.Verified {
		head := ""
		if i == 0 {
			head = "VERIFIED"
		}
		rows = append(rows, []string{head, fmt.Sprintf("%s, %s, %d bytes", part.Digest, part.Kind, part.Bytes)})
	}
	return rows
}

func (c *configReport) text() string {
	text := fmt.Sprintf("%d bytes, version %s, from label %s", c.Bytes, app.Dash(c.Version), c.Label)
	if c.File != "" {
		text += ", file " + c.File
	}
	return text
}

func (r *releaseReport) text() string {
	text := app.Dash(r.Version) + ", from " + r.From
	if r.Label != "" {
		text += " " + r.Label
	}
	return text
}

// checks returns the result of the checks in a few words.
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
