package chart

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var values = regexp.MustCompile("(?ms)^```yaml title=\"values.yaml\"\n(.*?)\n```$")

// TestCloudIdentities renders the chart with the values in the page about cloud identities. For each cloud, the
// ServiceAccount and the pods have the required annotations and labels, and the ConfigMap contains the first entry of
// registries.cloudIdentity.
func TestCloudIdentities(t *testing.T) {
	page := readFile(t, root+"/docs/how-to/cloud-identities.md")
	examples := values.FindAllStringSubmatch(page, -1)
	if len(examples) != 3 {
		t.Fatalf("found %d examples, want one for each of three clouds", len(examples))
	}
	for _, example := range examples {
		given := readValues(t, example[1])
		made, err := render(t, given)
		if err != nil {
			t.Error(err)
			continue
		}
		account := objects(t, made["serviceaccount.yaml"])["ServiceAccount"]
		wanted := given["serviceAccount"].(map[string]any)["annotations"]
		if diff := cmp.Diff(wanted, account["metadata"].(map[string]any)["annotations"]); diff != "" {
			t.Errorf("annotations (-want +got):\n%s", diff)
		}
		if labels, ok := given["podLabels"].(map[string]any); ok {
			template := objects(t, made["deployment.yaml"])["Deployment"]["spec"].(map[string]any)["template"].(map[string]any)
			for key, value := range labels {
				if got := template["metadata"].(map[string]any)["labels"].(map[string]any)[key]; got != value {
					t.Errorf("the pods have the label %s: %v, want %v", key, got, value)
				}
			}
		}
		data := given["operatorConfig"].(map[string]any)["data"].(map[string]any)
		list := data["registries"].(map[string]any)["cloudIdentity"].([]any)[0].(string)
		if !strings.Contains(made["operator_config.yaml"], list) {
			t.Errorf("the ConfigMap has no %q:\n%s", list, made["operator_config.yaml"])
		}
	}
}
