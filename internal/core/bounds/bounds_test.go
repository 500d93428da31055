package bounds_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
)

func TestFor(t *testing.T) {
	list := bounds.Bounds{
		{Namespaces: []string{"team-a", "ml-*"}, NoCommand: true},
		{Namespaces: []string{"team-*"}, NamespaceLabels: map[string]string{"tier": "trial", "region": "eu"}},
		{NamespaceLabels: map[string]string{"tier": "trial"}},
		{NoPodTemplate: true},
	}
	trial := map[string]string{"tier": "trial", "other": "x"}
	for _, tc := range []struct {
		namespace string
		labels    map[string]string
		rule      int
		needs     bool
	}{
		{"team-a", nil, 0, false},
		{"team-a", trial, 0, false},
		{"ml-x", nil, 0, false},
		{"team-ab", nil, 3, true},
		{"team-ab", trial, 2, true},
		{"team-ab", map[string]string{"tier": "trial", "region": "eu"}, 1, true},
		{"team-ab", map[string]string{"tier": "full", "region": "eu"}, 3, true},
		{"other", map[string]string{"tier": "trial", "region": "eu"}, 2, true},
		{"", nil, 3, true},
	} {
		if got := list.For(tc.namespace, tc.labels); got != &list[tc.rule] {
			t.Errorf("%q with labels %v: %+v, want rule %d", tc.namespace, tc.labels, got, tc.rule)
		}
		if got := list.NeedLabels(tc.namespace); got != tc.needs {
			t.Errorf("%q needs labels: %t, want %t", tc.namespace, got, tc.needs)
		}
	}
	if got := list[:1].For("other", nil); got != nil {
		t.Errorf("a namespace without a rule has %+v", got)
	}
	if diff := cmp.Diff(list[1:], list.Candidates("team-ab")); diff != "" {
		t.Errorf("the rules that can apply (-want +got):\n%s", diff)
	}
}

// TestDescribe checks that a rule is described in the form in which an administrator writes it.
func TestDescribe(t *testing.T) {
	stacks := 10
	for want, rule := range map[string]*bounds.Rule{
		"every namespace: ": {},
		"namespaces: [team-a, ml-*], namespaceLabels: {region: eu, tier: trial}: images: [quay.io/team, docker.io]; serviceAccounts: []; podTemplate: false; command: false; podSecurity: baseline; stacks: 10; domains: [example.com]; ingressClasses: [internal]; ingressAnnotations: [a/*]": {
			Namespaces: []string{"team-a", "ml-*"}, NamespaceLabels: map[string]string{"tier": "trial", "region": "eu"},
			Images: []string{"quay.io/team", "docker.io"}, ServiceAccounts: []string{}, NoPodTemplate: true, NoCommand: true,
			PodSecurity: "baseline", Stacks: &stacks, Domains: []string{"example.com"}, IngressClasses: []string{"internal"},
			IngressAnnotations: []string{"a/*"},
		},
	} {
		if got := rule.Selection() + ": " + strings.Join(rule.Describe(), "; "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestImage(t *testing.T) {
	rule := &bounds.Rule{Images: []string{"quay.io/team", "docker.io/ogxai", "registry.example.com:5000"}}
	for image, allowed := range map[string]bool{
		"quay.io/team/server:1":                      true,
		"quay.io/team:1":                             true,
		"quay.io/teams/server:1":                     false,
		"quay.io/other/team/server":                  false,
		"ogxai/distribution-starter:1":               true,
		"docker.io/ogxai/distribution-starter:1":     true,
		"index.docker.io/ogxai/distribution-starter": true,
		"redis": false,
		"registry.example.com:5000/a/b/c@sha256:" + hash: true,
		"registry.example.com/a":                         false,
		"registry.example.com.evil.org/a":                false,
		"docker.io/ogxai/../evil":                        false,
		"":                                               false,
		"https://quay.io/team/server":                    false,
	} {
		errs := rule.Image(image, field.NewPath("spec", "distribution", "image"))
		if (len(errs) == 0) != allowed {
			t.Errorf("%q: %v, want allowed %t", image, errs, allowed)
		}
	}
	for _, tc := range []struct{ bound, allowed, refused string }{
		{"ogxai", "ogxai/a docker.io/ogxai/a index.docker.io/ogxai/a Docker.io/ogxai/a", "ogxa/a redis quay.io/ogxai/a"},
		{"index.docker.io/ogxai", "ogxai/a docker.io/ogxai/a index.docker.io/ogxai/a", "redis docker.io/ogxa/a"},
		{"Docker.IO/ogxai/", "ogxai/a docker.io/ogxai/a INDEX.docker.io/ogxai/a", "docker.io.example.com/ogxai/a"},
		{"docker.io", "redis ogxai/a index.docker.io/redis", "docker.io.example.com/a quay.io/docker.io/a docker.io:443/a"},
		{"docker.io/redis", "redis library/redis docker.io/redis:7 index.docker.io/library/redis Docker.io/redis redis/stack", "redistribute ogxai/redis"},
		{"docker.io/library", "redis docker.io/redis index.docker.io/library/redis", "ogxai/a libraryx/a"},
		{"docker.io/library/redis", "redis library/redis Docker.io/redis", "redis/stack"},
		{"Quay.io/team", "quay.io/team/a QUAY.io/team/a:1", "quay.io/Team/a quay.io/team/../a quay.io/team/./a quay.io/team//a"},
		{"localhost/team", "localhost/team/a", "docker.io/localhost/team/a team/a"},
	} {
		rule := &bounds.Rule{Images: []string{tc.bound}}
		for image := range strings.FieldsSeq(tc.allowed) {
			if errs := rule.Image(image, field.NewPath("x")); len(errs) > 0 {
				t.Errorf("%s: %q is refused: %v", tc.bound, image, errs)
			}
		}
		for image := range strings.FieldsSeq(tc.refused) {
			if errs := rule.Image(image, field.NewPath("x")); len(errs) == 0 {
				t.Errorf("%s: %q is allowed", tc.bound, image)
			}
		}
	}
	if errs := (&bounds.Rule{}).Image("anything", field.NewPath("x")); len(errs) > 0 {
		t.Errorf("a rule without images: %v", errs)
	}
	if errs := (*bounds.Rule)(nil).Image("anything", field.NewPath("x")); len(errs) > 0 {
		t.Errorf("no rule: %v", errs)
	}
}

const hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestSpec(t *testing.T) {
	inside := bounds.Rule{Domains: []string{"a.example.com"}, IngressClasses: []string{"internal"}}
	for name, tc := range map[string]struct {
		rule              bounds.Rule
		overrides, expose string
		want              []string
	}{
		"nothing bounded": {overrides: "podTemplate: {spec: {hostNetwork: true}}", expose: "hostname: a"},
		"no patch":        {bounds.Rule{NoPodTemplate: true}, "podTemplate: {}", "", []string{"spec.workload.overrides.podTemplate"}},
		"no command": {
			bounds.Rule{NoCommand: true},
			"{command: [sh], args: [-c]}", "",
			[]string{"spec.workload.overrides.command", "spec.workload.overrides.args"},
		},
		"commands in the patch": {
			bounds.Rule{NoCommand: true},
			`podTemplate: {spec: {
				initContainers: [{name: mine, image: mine}],
				containers: [{name: llama-stack, args: [x], env: [{name: A, value: b}],
					lifecycle: {preStop: {exec: {command: [sh]}}}, livenessProbe: {exec: {command: [sh]}}}]}}`, "",
			[]string{
				"spec.workload.overrides.podTemplate.spec.initContainers[0]",
				"spec.workload.overrides.podTemplate.spec.containers[0].args",
				"spec.workload.overrides.podTemplate.spec.containers[0].lifecycle.preStop.exec.command",
				"spec.workload.overrides.podTemplate.spec.containers[0].livenessProbe.exec.command",
			},
		},
		"directives that change a command": {
			bounds.Rule{NoCommand: true},
			"podTemplate: {spec: {containers: [{name: llama-stack, $deleteFromPrimitiveList/command: [-c], $setElementOrder/args: [a]}]}}", "",
			[]string{
				"spec.workload.overrides.podTemplate.spec.containers[0].$deleteFromPrimitiveList/command",
				"spec.workload.overrides.podTemplate.spec.containers[0].$setElementOrder/args",
			},
		},
		"a patch without a command": {
			rule:      bounds.Rule{NoCommand: true},
			overrides: "podTemplate: {spec: {nodeSelector: {gpu: a}, containers: [{name: llama-stack, resources: {limits: {cpu: 1}}}]}}",
		},
		"images of volumes": {
			bounds.Rule{Images: []string{"quay.io/team"}},
			"volumes: [{name: a, image: {reference: quay.io/team/x}}, {name: b, image: {reference: evil}}, {name: c, emptyDir: {}}]", "",
			[]string{"spec.workload.overrides.volumes[1].image.reference"},
		},
		"exposure": {
			bounds.Rule{Domains: inside.Domains, IngressClasses: inside.IngressClasses, IngressAnnotations: []string{"team/*"}},
			"", "{hostname: xa.example.com, ingressClassName: public, annotations: {team/a: '', other/b: x}}",
			[]string{"spec.networking.expose.hostname", "spec.networking.expose.ingressClassName", "spec.networking.expose.annotations[other/b]"},
		},
		"exposure within bounds": {rule: inside, expose: "{hostname: x.a.example.com, ingressClassName: internal}"},
		"values that the operator chooses": {
			rule: bounds.Rule{Domains: []string{}, IngressClasses: []string{}, IngressAnnotations: []string{}}, expose: "{}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			overrides, expose := &v1alpha2.WorkloadOverrides{}, (*v1alpha2.ExposeSpec)(nil)
			err := yaml.UnmarshalStrict([]byte(tc.overrides), overrides)
			if err = errors.Join(err, yaml.UnmarshalStrict([]byte(tc.expose), &expose)); err != nil {
				t.Fatal(err)
			}
			spec := &v1alpha2.LlamaStackDistributionSpec{Workload: &v1alpha2.WorkloadSpec{Overrides: overrides}}
			compare(t, tc.want, tc.rule.Spec(spec, expose))
		})
	}
}

func TestPod(t *testing.T) {
	for name, tc := range map[string]struct {
		rule bounds.Rule
		pod  string
		want []string
	}{
		"nothing bounded": {pod: "{spec: {hostNetwork: true, serviceAccountName: mine, containers: [{name: a, image: other}]}}"},
		"images of containers": {
			bounds.Rule{Images: []string{"quay.io/team"}},
			"{spec: {initContainers: [{name: first, image: evil}, {name: second, image: quay.io/team/x}, {name: third, image: provider}], containers: [{name: llama-stack, image: server}, {name: side, image: evil}]}}",
			[]string{"spec.workload.overrides.podTemplate.spec.initContainers[first].image", "spec.workload.overrides.podTemplate.spec.containers[side].image"},
		},
		"images of volumes": {
			bounds.Rule{Images: []string{"quay.io/team"}},
			"{spec: {volumes: [{name: a, image: {reference: evil}}, {name: b, image: {reference: quay.io/team/x}}, {name: c, image: {reference: provider}}, {name: d, emptyDir: {}}]}}",
			[]string{"spec.workload.overrides.podTemplate.spec.volumes[a].image.reference"},
		},
		"ServiceAccount": {
			bounds.Rule{ServiceAccounts: []string{"llama-*"}},
			"{spec: {serviceAccountName: admin}}",
			[]string{"spec.workload.overrides.serviceAccountName"},
		},
		"ServiceAccount within bounds": {rule: bounds.Rule{ServiceAccounts: []string{"llama-*"}}, pod: "{spec: {serviceAccountName: llama-a}}"},
		"the stack's own":              {rule: bounds.Rule{ServiceAccounts: []string{}}, pod: "{spec: {serviceAccountName: my-sa}}"},
		"a host path":                  {bounds.Rule{PodSecurity: "baseline"}, "{spec: {volumes: [{name: a, hostPath: {path: /}}]}}", []string{"spec.workload.overrides"}},
		"the host's network": {
			bounds.Rule{PodSecurity: "baseline"},
			"{spec: {hostNetwork: true}}",
			[]string{"spec.workload.overrides"},
		},
		"baseline is not restricted": {rule: bounds.Rule{PodSecurity: "baseline"}, pod: "{spec: {containers: [{name: a, image: server}]}}"},
		"restricted":                 {bounds.Rule{PodSecurity: "restricted"}, "{spec: {containers: [{name: a, image: server}]}}", []string{"spec.workload.overrides"}},
		"privileged forbids nothing": {rule: bounds.Rule{PodSecurity: "privileged"}, pod: "{spec: {hostPID: true}}"},
	} {
		t.Run(name, func(t *testing.T) {
			template := &corev1ac.PodTemplateSpecApplyConfiguration{}
			if err := yaml.UnmarshalStrict([]byte(tc.pod), template); err != nil {
				t.Fatal(err)
			}
			errs, err := tc.rule.Pod(bounds.Pod{
				Template: template, Images: []string{"server", "provider"},
				ServiceAccount: "my-sa",
			})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, tc.want, errs)
		})
	}
}

// TestNoAllowedValue checks the remedies for bounds that do not allow any value.
func TestNoAllowedValue(t *testing.T) {
	rule := &bounds.Rule{Images: []string{}, IngressClasses: []string{}, ServiceAccounts: []string{}}
	errs := rule.Image("server", field.NewPath("x"))
	spec := &v1alpha2.LlamaStackDistributionSpec{Workload: &v1alpha2.WorkloadSpec{}}
	errs = append(errs, rule.Spec(spec, &v1alpha2.ExposeSpec{IngressClassName: "public"})...)
	pod := corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().WithServiceAccountName("admin"))
	more, err := rule.Pod(bounds.Pod{Template: pod})
	if err != nil {
		t.Fatal(err)
	}
	const remedy = `ask an administrator to change the key "bounds" in the operator's ConfigMap`
	want := []string{
		`the image "server" is not from a source that is allowed in this namespace: ` + remedy,
		`"public" is not allowed in this namespace: remove the field, or ` + remedy,
		`the ServiceAccount "admin" is not allowed in this namespace: remove serviceAccountName from the overrides and from podTemplate; or ` + remedy,
	}
	var got []string
	for _, err := range append(errs, more...) {
		got = append(got, err.Detail)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// compare compares the fields of errors. Each error must state that an administrator can change the bound.
func compare(t *testing.T, want []string, errs field.ErrorList) {
	t.Helper()
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
		if !strings.Contains(err.Detail, "ask an administrator") {
			t.Errorf("%v has no remedy", err)
		}
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s\n%v", diff, errs)
	}
}
