package findings

import (
	"cmp"
	"slices"
	"strings"
)

// The following types are the part of SARIF 2.1.0 that a report needs:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifText          `json:"shortDescription"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

// rules are the rules of all findings, in the order of their index.
var rules = []sarifRule{
	{RuleInvalid, sarifText{"The operator rejects the manifest."}, sarifConfiguration{Error}},
	{RuleWarning, sarifText{"Check the setting. It has no effect, or is probably a mistake."}, sarifConfiguration{Warning}},
	{RuleData, sarifText{"A change leaves client data behind."}, sarifConfiguration{Warning}},
	{RuleNote, sarifText{"A setting is valid, and the message explains its effect."}, sarifConfiguration{Note}},
}

// sarif returns the report as a SARIF 2.1.0 log.
func (r *Report) sarif(version string) sarifLog {
	results := make([]sarifResult, 0, len(r.Findings))
	for i := range r.Findings {
		f := &r.Findings[i]
		results = append(results, sarifResult{
			RuleID: f.Rule, Level: f.Level, Message: sarifText{f.Sentence()}, Locations: f.locations(),
			RuleIndex: slices.IndexFunc(rules, func(rule sarifRule) bool { return rule.ID == f.Rule }),
		})
	}
	return sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{
			Tool: sarifTool{sarifDriver{
				Name: "kubectl-llamastack", Version: strings.TrimPrefix(version, "v"), InformationURI: "https://github.com/llamastack/llama-stack-k8s-operator", Rules: rules,
			}},
			ColumnKind: "unicodeCodePoints", Results: results,
		}},
	}
}

// locations returns the line in the file and the field of a finding. A finding about generated text that is not in a
// file has no physical location.
func (f *Finding) locations() []sarifLocation {
	var location sarifLocation
	if f.File != "" {
		location.Physical = &sarifPhysical{Artifact: sarifArtifact{uri(f.File)}}
		if f.Line > 0 {
			location.Physical.Region = &sarifRegion{f.Line, f.Column}
		}
	}
	if name := cmp.Or(f.Path, f.Stack); name != "" {
		if f.Path != "" && f.Stack != "" {
			name = f.Stack + ": " + name
		}
		location.Logical = []sarifLogical{{name, "member"}}
	}
	if location.Physical == nil && location.Logical == nil {
		return nil
	}
	return []sarifLocation{location}
}
