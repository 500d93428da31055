package testutil

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// csv is the part of a ClusterServiceVersion from which OLM makes objects.
type csv struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Install struct {
			Spec struct {
				Deployments []struct {
					Name  string
					Label map[string]string
					Spec  appsv1.DeploymentSpec
				}
				Permissions, ClusterPermissions []permission
			}
		}
		WebhookDefinitions []webhookDefinition `json:"webhookdefinitions"`
	}
}

type permission struct {
	ServiceAccountName string
	Rules              []rbacv1.PolicyRule
}

type webhookDefinition struct {
	admissionv1.ValidatingWebhook

	GenerateName, Type, DeploymentName, WebhookPath string
	ContainerPort                                   int32
	TargetPort                                      intstr.IntOrString
	ConversionCRDs                                  []string
}

// olm collects the objects that the Operator Lifecycle Manager (OLM) makes from a bundle.
type olm struct {
	t         testing.TB
	namespace string
	csv       csv
	objects   []*unstructured.Unstructured
}

// OLMObjects returns the objects that OLM makes in a namespace from the bundle for a manifest of config/default. It
// follows the code of OLM v0 (pkg/controller/install), except that a Role that OLM copies into a ClusterRole stays in
// its namespace, and that the ServiceAccount cannot also check tokens. So the operator has fewer permissions than OLM
// grants.
func OLMObjects(t testing.TB, manifest []byte, namespace string) []*unstructured.Unstructured {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "manifest.yaml")
	if err := os.WriteFile(file, manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "run", "./hack/olm", "-version=v0.10.0", "-manifest="+file,
		filepath.Join(folder, "olm"))
	command.Dir = Root()
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("write the bundle: %v\n%s", err, output)
	}
	files, err := filepath.Glob(filepath.Join(folder, "olm/bundle/manifests/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the bundle has %d objects, error %v", len(files), err)
	}
	o := &olm{t: t, namespace: namespace}
	for _, file := range files {
		objects, err := ReadObjects(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetKind() == "ClusterServiceVersion" {
				text, err := object.MarshalJSON()
				if err == nil {
					err = json.Unmarshal(text, &o.csv)
				}
				if err != nil {
					t.Fatal(err)
				}
				continue
			}
			if kind := object.GetKind(); kind == "Service" || kind == "PodDisruptionBudget" {
				object.SetNamespace(namespace)
			}
			o.objects = append(o.objects, object)
		}
	}
	o.install()
	return o.objects
}

// add adds an object, which is in the namespace unless its kind is cluster-wide.
func (o *olm) add(apiVersion, kind, name string, typed client.Object) {
	o.t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		o.t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetName(name)
	if kind != "ClusterRole" && kind != "ClusterRoleBinding" && kind != "ValidatingWebhookConfiguration" {
		object.SetNamespace(o.namespace)
	}
	delete(object.Object, "status")
	o.objects = append(o.objects, object)
}

func (o *olm) install() {
	o.t.Helper()
	spec := &o.csv.Spec.Install.Spec
	for _, each := range spec.Permissions {
		o.add("v1", "ServiceAccount", each.ServiceAccountName, &corev1.ServiceAccount{})
		o.grant("", each)
	}
	for _, each := range spec.ClusterPermissions {
		o.grant("Cluster", each)
	}
	for _, each := range spec.Deployments {
		service := each.Name + "-service"
		authority, key := NewCertificate(o.t, time.Now().AddDate(0, 6, 0), service+"."+o.namespace+".svc")
		o.add("v1", "Secret", service+"-cert", &corev1.Secret{
			Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{"tls.crt": authority, "tls.key": key, "olmCAKey": authority},
		})
		o.webhooks(service, each.Spec.Selector.MatchLabels, authority)
		mount(&each.Spec.Template.Spec, service+"-cert")
		for name, value := range o.csv.Annotations {
			metav1.SetMetaDataAnnotation(&each.Spec.Template.ObjectMeta, name, value)
		}
		o.add("apps/v1", "Deployment", each.Name, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Labels: each.Label}, Spec: each.Spec,
		})
	}
}

// grant adds a role and its binding. scope is "" or "Cluster".
func (o *olm) grant(scope string, granted permission) {
	o.t.Helper()
	const version = "rbac.authorization.k8s.io/v1"
	account := granted.ServiceAccountName
	name := fmt.Sprintf("%s-%d", o.csv.Name, len(o.objects))
	o.add(version, scope+"Role", name, &rbacv1.Role{Rules: granted.Rules})
	o.add(version, scope+"RoleBinding", name, &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: scope + "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: o.namespace, Name: account}},
	})
}

// mount mounts the certificate where OLM does.
func mount(pod *corev1.PodSpec, secret string) {
	for _, each := range []struct{ name, path, prefix string }{
		{"apiservice-cert", "/apiserver.local.config/certificates", "apiserver"},
		{"webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls"},
	} {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: each.name, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: secret, Items: []corev1.KeyToPath{
				{Key: "tls.crt", Path: each.prefix + ".crt"}, {Key: "tls.key", Path: each.prefix + ".key"},
			}},
		}})
		for i := range pod.Containers {
			pod.Containers[i].VolumeMounts = append(pod.Containers[i].VolumeMounts,
				corev1.VolumeMount{Name: each.name, MountPath: each.path})
		}
	}
}

// webhooks adds the Service and the registrations of the webhooks.
func (o *olm) webhooks(service string, selector map[string]string, authority []byte) {
	o.t.Helper()
	for i, each := range o.csv.Spec.WebhookDefinitions {
		if i == 0 { // the other webhooks have the same port
			o.add("v1", "Service", service, &corev1.Service{Spec: corev1.ServiceSpec{
				Selector: selector,
				Ports:    []corev1.ServicePort{{Name: "443", Port: each.ContainerPort, TargetPort: each.TargetPort}},
			}})
		}
		if each.Type == "ConversionWebhook" {
			o.convert(service, &each, authority)
			continue
		}
		each.Name = each.GenerateName
		each.ClientConfig = admissionv1.WebhookClientConfig{CABundle: authority, Service: &admissionv1.ServiceReference{
			Namespace: o.namespace, Name: service, Path: &each.WebhookPath, Port: &each.ContainerPort,
		}}
		o.add("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", each.Name+"-x7k2p",
			&admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{each.ValidatingWebhook}})
	}
}

// convert registers the conversion webhook in its definition.
func (o *olm) convert(service string, webhook *webhookDefinition, authority []byte) {
	o.t.Helper()
	for _, object := range o.objects {
		if object.GetKind() != "CustomResourceDefinition" || object.GetName() != webhook.ConversionCRDs[0] {
			continue
		}
		conversion, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: webhook.AdmissionReviewVersions,
				ClientConfig: &apiextensionsv1.WebhookClientConfig{
					CABundle: authority, Service: &apiextensionsv1.ServiceReference{
						Namespace: o.namespace, Name: service, Path: &webhook.WebhookPath, Port: &webhook.ContainerPort,
					},
				},
			},
		})
		if err == nil {
			err = unstructured.SetNestedMap(object.Object, conversion, "spec", "conversion")
		}
		if err != nil {
			o.t.Fatal(err)
		}
		return
	}
	o.t.Fatalf("the bundle does not have the definition %q", webhook.ConversionCRDs[0])
}
