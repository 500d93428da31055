package main

import (
	"bytes"
	_ "embed" // the texts
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// texts is the part of the ClusterServiceVersion (CSV) that does not come from the manifest.
//
//go:embed clusterserviceversion.yaml
var texts []byte

// certificates is the folder in which OLM mounts the certificate of the webhooks.
const certificates = "/tmp/k8s-webhook-server/serving-certs"

// object is an object of Kubernetes, or a part of one.
type object map[string]any

func (o object) kind() string { return o["kind"].(string) }
func (o object) name() string { return o.child("metadata")["name"].(string) }

// child returns an inner mapping.
func (o object) child(key string) object {
	switch inner := o[key].(type) {
	case object:
		return inner
	case map[string]any:
		return inner
	}
	return nil
}

// list returns an inner list of mappings.
func (o object) list(key string) []object {
	entries, _ := o[key].([]any)
	found := make([]object, len(entries))
	for i := range entries {
		found[i] = entries[i].(map[string]any)
	}
	return found
}

// fileName returns the name of the object's file in a bundle.
func (o object) fileName() string { return o.name() + "." + strings.ToLower(o.kind()) + ".yaml" }

// bundle contains the objects of a bundle.
type bundle struct {
	csv, definition object
	// others are the objects that OLM applies unchanged.
	others []object
}

func (b *bundle) objects() []object { return append([]object{b.csv, b.definition}, b.others...) }

// convert returns the bundle with the objects of a manifest.
func convert(manifest []byte, o *options) (*bundle, error) {
	byKind, err := parseManifest(manifest)
	if err != nil {
		return nil, err
	}
	for _, kind := range []string{
		"CustomResourceDefinition", "Deployment", "Namespace", "ValidatingWebhookConfiguration",
	} {
		if n := len(byKind[kind]); n != 1 {
			return nil, fmt.Errorf("the manifest has %d objects of the kind %s, want one", n, kind)
		}
	}
	csv := map[string]any{}
	if err := yaml.Unmarshal(texts, &csv); err != nil {
		return nil, fmt.Errorf("parse the texts: %w", err)
	}
	found := &bundle{csv: csv, definition: byKind["CustomResourceDefinition"][0]}
	deployment, webhook := byKind["Deployment"][0], byKind["ValidatingWebhookConfiguration"][0].list("webhooks")[0]
	service := found.definition.child("spec").child("conversion").child("webhook").child("clientConfig").child("service")
	webhookService := service["name"]
	// Until OLM registers the webhook, the definition names the Service that OLM makes. Without a webhook, the API server
	// would not convert stored objects, and would prune their fields.
	service["name"] = deployment.name() + "-service"
	image := install(found.csv, deployment, byKind)
	describe(found.csv, byKind["Namespace"][0], image, o)
	found.csv.child("spec")["webhookdefinitions"] = []any{
		validation(webhook, deployment.name()), conversion(found.definition, deployment.name()),
	}
	for _, kind := range []string{"ClusterRole", "PodDisruptionBudget", "Service"} {
		for _, each := range byKind[kind] {
			if each.name() != webhookService && !bound(each, byKind) {
				delete(each.child("metadata"), "namespace") // the user chooses the namespace
				found.others = append(found.others, each)
			}
		}
	}
	return found, nil
}

// handled are the kinds that convert handles. The comment of the package says why it omits the policy.
var handled = []string{
	"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Deployment", "Namespace", "PodDisruptionBudget",
	"Role", "RoleBinding", "Service", "ServiceAccount", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"ValidatingWebhookConfiguration",
}

// parseManifest returns the objects of a manifest by kind.
func parseManifest(manifest []byte) (map[string][]object, error) {
	found := map[string][]object{}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), len(manifest)); ; {
		var each map[string]any
		err := decoder.Decode(&each)
		kind, _ := each["kind"].(string)
		switch {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("parse an object: %w", err)
		case !slices.Contains(handled, kind):
			return nil, fmt.Errorf("an object has the kind %q, which this command does not know", kind)
		}
		found[kind] = append(found[kind], each)
	}
}

// install writes the Deployment and the permissions of its ServiceAccount into the CSV, and returns the image.
func install(csv, deployment object, byKind map[string][]object) any {
	spec := deployment.child("spec")
	template := spec.child("template")
	container := template.child("spec").list("containers")[0]
	arguments, _ := container["args"].([]any)
	container["args"] = append(arguments, "--webhook-cert-path="+certificates)
	template.child("metadata").child("annotations")["openshift.io/required-scc"] = "restricted-v2"
	grants := func(roles, bindings string) []any {
		var found []any
		for _, role := range byKind[roles] {
			if bound(role, map[string][]object{bindings: byKind[bindings]}) {
				found = append(found, map[string]any{
					"serviceAccountName": template.child("spec")["serviceAccountName"], "rules": role["rules"],
				})
			}
		}
		return found
	}
	csv.child("spec")["install"] = map[string]any{
		"strategy": "deployment",
		"spec": map[string]any{
			"deployments": []any{map[string]any{
				"name": deployment.name(), "label": deployment.child("metadata")["labels"], "spec": spec,
			}},
			"clusterPermissions": grants("ClusterRole", "ClusterRoleBinding"),
			"permissions":        grants("Role", "RoleBinding"),
		},
	}
	return container["image"]
}

// bound reports whether a binding refers to the role.
func bound(role object, byKind map[string][]object) bool {
	for _, binding := range append(slices.Clone(byKind["ClusterRoleBinding"]), byKind["RoleBinding"]...) {
		if ref := binding.child("roleRef"); ref["kind"] == role.kind() && ref["name"] == role.name() {
			return true
		}
	}
	return false
}

// describe writes the name, the version, the images and the namespace into the CSV.
func describe(csv, namespace object, image any, o *options) {
	csv.child("metadata")["name"] = packageName + ".v" + o.version
	related := []any{map[string]any{"name": "manager", "image": image}}
	for _, each := range distribution.Images() {
		// The other releases would make a mirror hundreds of gigabytes large.
		if slices.Contains(distribution.OverrideKeys(each.Name, each.Version), each.Name) {
			related = append(related, map[string]any{"name": each.Name, "image": each.Image})
		}
	}
	spec := csv.child("spec")
	spec["version"], spec["replaces"], spec["relatedImages"] = o.version, o.replaces, related
	template, err := json.Marshal(namespace)
	if err != nil {
		panic(err) // the namespace has only types of JSON
	}
	annotations := csv.child("metadata").child("annotations")
	annotations["containerImage"], annotations["olm.skipRange"] = image, skipRange(o)
	annotations["operatorframework.io/suggested-namespace"] = namespace.name()
	annotations["operatorframework.io/suggested-namespace-template"] = string(template)
}

// validation returns the definition of the validating webhook. OLM has no matchConditions. The operator accepts the
// updates that they exclude.
func validation(webhook object, deployment string) map[string]any {
	found := map[string]any{"generateName": webhook["name"], "type": "ValidatingAdmissionWebhook"}
	for _, key := range []string{
		"admissionReviewVersions", "failurePolicy", "matchPolicy", "rules", "sideEffects", "timeoutSeconds",
	} {
		found[key] = webhook[key]
	}
	return reached(found, webhook.child("clientConfig").child("service"), deployment)
}

// conversion returns the definition of the conversion webhook.
func conversion(definition object, deployment string) map[string]any {
	webhook := definition.child("spec").child("conversion").child("webhook")
	return reached(map[string]any{
		"generateName": "convert." + definition.name(), "type": "ConversionWebhook", "sideEffects": "None",
		"admissionReviewVersions": webhook["conversionReviewVersions"], "conversionCRDs": []any{definition.name()},
	}, webhook.child("clientConfig").child("service"), deployment)
}

// reached adds the Deployment that serves the webhook, the port of the Service that OLM makes for it, and the path.
func reached(webhook map[string]any, service object, deployment string) map[string]any {
	webhook["deploymentName"], webhook["targetPort"] = deployment, "webhook"
	webhook["containerPort"], webhook["webhookPath"] = service["port"], service["path"]
	return webhook
}
