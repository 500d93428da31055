package image

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// labelReport describes the changes to an image.
type labelReport struct {
	Image string `json:"image"`
	// Target is the image with its new tag.
	Target string `json:"target"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Images lists the images in an index, or contains the only image.
	Images []labeledReport `json:"images"`
	// Kept is the number of entries in the index that are not runnable images.
	Kept   int            `json:"kept,omitempty"`
	Labels []writtenLabel `json:"labels"`
	// Layers lists the added layers.
	Layers []partReport `json:"layers,omitempty"`

	checked imageReport
}

type labeledReport struct {
	Platform string `json:"platform,omitempty"`
	Before   string `json:"before"`
	After    string `json:"after"`
}

type writtenLabel struct {
	Label string `json:"label"`
	Bytes int    `json:"bytes"`
	// Value is the value of the label. It is empty for base64 content.
	Value string `json:"value,omitempty"`
}

func newLabelReport(changed *Labeled, wanted *registry.Labels, written, target string) *labelReport {
	report := &labelReport{
		Image: written, Target: target, Before: changed.Before.String(), After: changed.Top.Digest.String(),
		Kept:    changed.Kept,
		checked: imageReport{Image: written},
	}
	for i := range changed.Images {
		report.Images = append(report.Images, newLabeledReport(&changed.Images[i]))
	}
	layer := ""
	for i := range changed.Blobs {
		if blob := &changed.Blobs[i]; blob.MediaType.IsLayer() {
			layer = blob.Digest.String()
			report.Layers = append(report.Layers, partReport{registry.PartLayer, layer, int64(len(blob.Content))})
		}
	}
	texts := wanted.Texts(layer)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		one := writtenLabel{Label: name, Bytes: len(texts[name]), Value: texts[name]}
		if name == registry.LabelBase64 || name == registry.LabelProvider {
			one.Value = ""
		}
		report.Labels = append(report.Labels, one)
	}
	return report
}

func newLabeledReport(one *Changed) labeledReport {
	platform := ""
	if one.Platform != nil {
		platform = one.Platform.String()
	}
	return labeledReport{platform, one.Before.String(), one.After.String()}
}

// verdict prints the problems and the notes about the labeled image. It returns an error if the operator would not
// accept the image.
func (r *labelReport) verdict(p app.Printer) error {
	if r.checked.verdict(p) != nil {
		return &app.Rejection{Summary: "the operator would not accept the labeled image; the image is unchanged"}
	}
	if r.Kept > 0 {
		kept := "1 index entry, such as an attestation, is not a runnable image and does not change; this entry describes"
		if r.Kept > 1 {
			kept = fmt.Sprintf("%d index entries, such as attestations, are not runnable images and do not change; these "+
				"entries describe", r.Kept)
		}
		p.Note(fmt.Sprintf("%s: %s the images before labeling", r.Image, kept))
	}
	if slices.ContainsFunc(r.checked.Images, func(one platformReport) bool {
		return one.Release != nil && one.Release.From == string(distribution.ByTag)
	}) {
		p.Note(fmt.Sprintf("%s: only the tag specifies the release of the server; set --release to write the release to "+
			"the label %s", r.Image, registry.LabelRelease))
	}
	return nil
}

// written prints the name and the digest of the written image.
func (r *labelReport) written(p app.Printer) {
	if r.Before == r.After && r.Target == r.Image {
		p.OK(fmt.Sprintf("%s already has these labels", r.Target))
		return
	}
	p.OK(fmt.Sprintf("%s is %s", r.Target, r.After))
}

// write writes the report as tables.
func (r *labelReport) write(page *bytes.Buffer) {
	app.WriteTable(page, [][]string{{"IMAGE", r.Target}, {"BEFORE", r.Before}, {"AFTER", r.After}})
	if len(r.Images) > 1 || r.Images[0].Platform != "" {
		rows := [][]string{{"PLATFORM", "BEFORE", "AFTER"}}
		for _, one := range r.Images {
			rows = append(rows, []string{app.Dash(one.Platform), one.Before, one.After})
		}
		page.WriteByte('\n')
		app.WriteTable(page, rows)
	}
	rows := [][]string{{"LABEL", "BYTES", "VALUE"}}
	for _, one := range r.Labels {
		rows = append(rows, []string{one.Label, strconv.Itoa(one.Bytes), app.Dash(one.Value)})
	}
	page.WriteByte('\n')
	app.WriteTable(page, rows)
	for _, layer := range r.Layers {
		page.WriteByte('\n')
		app.WriteTable(page, [][]string{{"LAYER", "BYTES"}, {layer.Digest, strconv.FormatInt(layer.Bytes, 10)}})
	}
}
