package monitoring

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"
)

const (
	root     = "../../"
	runbooks = "docs/troubleshooting/alerts.md"
	site     = "https://llamastack.github.io/llama-stack-k8s-operator/troubleshooting/alerts/#"
)

const (
	condition = `llama_stack_operator_stack_condition{namespace="a",name="my",`
	storage   = `
		llama_stack_operator_stack_condition{namespace="a",name="my",type="StorageReady",reason="StorageReady"} 1x60
		kubelet_volume_stats_capacity_bytes{namespace="a",persistentvolumeclaim="my-pvc",node="n"} 100x60`
)

// These series are one sample a minute. `fires` is the time at which the alert fires. The series `quiet` never cause it.
var cases = []struct {
	alert string
	load  string
	fires time.Duration
	want  string // the summary
	quiet string
}{
	{
		"LlamaStackNotReady",
		condition + `type="Ready",reason="RolloutInProgress"} 0x9 stale
		` + condition + `type="Ready",reason="RolloutFailed"} _x9 0x50`,
		15 * time.Minute,
		"Stack a/my has not been ready for 15 minutes.",
		condition + `type="Ready",reason="MinimumReplicasAvailable"} 1x20 0x10 1x30`,
	},
	{
		"LlamaStackNotServing",
		condition + `type="Available",reason="ReplicasUnavailable"} 0x60`, 5 * time.Minute,
		"Stack a/my has lost pods for 5 minutes.",
		condition + `type="Available",reason="RolloutInProgress"} 0x60
		` + condition + `type="Ready",reason="ReplicasUnavailable"} 0x60`,
	},
	{
		"LlamaStackRolloutStuck",
		condition + `type="Available",reason="RolloutInProgress"} 0x9 stale
		` + condition + `type="Available",reason="RolloutFailed"} _x9 0x50`,
		20 * time.Minute,
		"The rollout of stack a/my makes no progress.",
		condition + `type="Available",reason="RolloutInProgress"} 0x18 stale
		` + condition + `type="Available",reason="MinimumReplicasAvailable"} _x18 1x40`,
	},
	{
		"LlamaStackDegraded",
		condition + `type="Degraded",reason="BaseConfigStale"} 1x70`, time.Hour,
		"Stack a/my is degraded: BaseConfigStale.",
		condition + `type="Degraded",reason="AutoscalerInactive"} 1x30 stale`,
	},
	{
		"LlamaStackCertificateExpires",
		`llama_stack_operator_stack_certificate_expiry_seconds{namespace="a",name="my"} 606000x60`, 21 * time.Minute,
		"A certificate of stack a/my expires within a week.",
		`llama_stack_operator_stack_certificate_expiry_seconds{namespace="a",name="my"} 1209600x60`,
	},
	{
		"LlamaStackStorageNearlyFull",
		storage + `
		kubelet_volume_stats_available_bytes{namespace="a",persistentvolumeclaim="my-pvc",node="n"} 5x60`, 10 * time.Minute,
		"Volume a/my-pvc has 5% of its space left.",
		storage + `
		kubelet_volume_stats_available_bytes{namespace="a",persistentvolumeclaim="my-pvc",node="n"} 50x60
		kubelet_volume_stats_capacity_bytes{namespace="b",persistentvolumeclaim="my-pvc",node="n"} 100x60
		kubelet_volume_stats_available_bytes{namespace="b",persistentvolumeclaim="my-pvc",node="n"} 5x60`,
	},
	{
		"LlamaStackWithoutSeries",
		`llama_stack_operator_stacks_without_series 7x60`, 15 * time.Minute,
		"7 stacks exceed the limits of the metrics. No alert reports their problems.",
		`llama_stack_operator_stacks_without_series 0x60`,
	},
	{
		"LlamaStackOperatorDown",
		`llama_stack_operator_config_errors{key="bounds",pod="p"} 0x10 stale`, 21 * time.Minute,
		"No instance of the operator is active. Running stacks continue, but no change reaches them.",
		`llama_stack_operator_config_errors{key="bounds",pod="p"} 0x10 stale
		llama_stack_operator_config_errors{key="bounds",pod="q"} _x15 0x50`,
	},
	{
		"LlamaStackOperatorErrors",
		`controller_runtime_reconcile_errors_total{controller="llamastackdistribution"} 0+1x60`, 31 * time.Minute,
		"The operator has retried failed reconciles for 30 minutes.",
		`controller_runtime_reconcile_errors_total{controller="llamastackdistribution"} 0+1x10 10x50
		controller_runtime_reconcile_errors_total{controller="other"} 0+1x60`,
	},
	{
		"LlamaStackOperatorConfigWrong",
		`llama_stack_operator_config_errors{key="bounds"} 2x60`, 0,
		"Key bounds of the operator's ConfigMap has 2 errors.",
		`llama_stack_operator_config_errors{key="bounds"} 0x60`,
	},
	{
		"LlamaStackOtherOperator",
		`llama_stack_operator_other_operator{namespace="a",name="my"} 1x60`, 15 * time.Minute,
		"Another operator manages stack a/my. This operator does not change the stack.",
		`llama_stack_operator_other_operator{namespace="a",name="my"} 1x10 stale`,
	},
	{
		"LlamaStackOtherInstallation",
		`llama_stack_operator_other_installation{installation="b"} 1x60`, 5 * time.Minute,
		"This operator changes nothing, because the CRD names the installation in namespace b.",
		`llama_stack_operator_other_installation{installation="b"} 1x3 stale`,
	},
	{
		"LlamaStackWebhookNotTrusted",
		`llama_stack_operator_webhook_ca_injected{object="CustomResourceDefinition"} 0x60`, time.Minute,
		"The API server does not trust the operator's webhooks (CustomResourceDefinition). Stacks that are stored as v1alpha1 cannot be read.",
		`llama_stack_operator_webhook_ca_injected{object="CustomResourceDefinition"} 1x60`,
	},
	{
		"LlamaStackWebhookCertificateExpires",
		`llama_stack_operator_webhook_certificate_expiry_seconds 606000x60`, 21 * time.Minute,
		"The certificate of the operator's webhooks expires within a week.",
		`llama_stack_operator_webhook_certificate_expiry_seconds 2592000x60`,
	},
	{
		"LlamaStackStorageNotMigrated",
		`llama_stack_operator_storage_migration_complete 0x70`, time.Hour,
		"Some stacks are still stored as v1alpha1.",
		`llama_stack_operator_storage_migration_complete 0x30 1x30`,
	},
}

// readRules returns the alert rules by name, after a check by the parser of rule files.
func readRules(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile(root + "config/monitoring/prometheusrule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	spec, err := yaml.Marshal(object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	groups, errs := rulefmt.Parse(spec, false, model.UTF8Validation, parser.NewParser(parser.Options{}), quiet)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	found := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			found[rule.Alert] = rule
		}
	}
	return found
}

// firing evaluates a rule every minute for 70 minutes, and returns when it fires first, with its summary.
func firing(t *testing.T, rule *rulefmt.Rule, load string) (at time.Duration, summary string) {
	t.Helper()
	series := strings.Split(strings.TrimSpace(load), "\n")
	for i := range series {
		series[i] = "  " + strings.TrimSpace(series[i])
	}
	storage := promqltest.LoadedStorage(t, "load 1m\n"+strings.Join(series, "\n"))
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, 100_000), storage)
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(rule.Expr)
	if err != nil {
		t.Fatal(err)
	}
	alert := rules.NewAlertingRule(rule.Alert, expression, time.Duration(rule.For), 0, labels.FromMap(rule.Labels),
		labels.FromMap(rule.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	for at := time.Duration(0); at <= 70*time.Minute; at += time.Minute {
		if _, err := alert.Eval(t.Context(), 0, time.Unix(0, 0).Add(at), query, nil, 0); err != nil {
			t.Fatal(err)
		}
		for _, active := range alert.ActiveAlerts() {
			if active.State == rules.StateFiring {
				return at, active.Annotations.Get("summary")
			}
		}
	}
	return -1, ""
}

// TestAlerts checks that each alert fires after its time with its summary, and does not fire otherwise.
func TestAlerts(t *testing.T) {
	found := readRules(t)
	for _, test := range cases {
		t.Run(test.alert, func(t *testing.T) {
			rule, ok := found[test.alert]
			if !ok {
				t.Fatal("there is no such alert")
			}
			delete(found, test.alert)
			at, summary := firing(t, &rule, test.load)
			if diff := cmp.Diff(fmt.Sprint(test.fires, " ", test.want), fmt.Sprint(at, " ", summary)); diff != "" {
				t.Errorf("the alert (-want +got):\n%s", diff)
			}
			if at, summary := firing(t, &rule, test.quiet); at >= 0 {
				t.Errorf("the alert fires after %s: %s", at, summary)
			}
		})
	}
	for name := range found {
		t.Errorf("the alert %s has no test", name)
	}
}

// TestRunbooks checks that the page about alerts has a section for each alert, and no other section.
func TestRunbooks(t *testing.T) {
	text, err := os.ReadFile(root + runbooks)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			name = strings.TrimSpace(name)
			sections[name] = site + strings.ToLower(name)
		}
	}
	alerts := map[string]string{}
	for name, rule := range readRules(t) {
		alerts[name] = rule.Annotations["runbook_url"]
	}
	if diff := cmp.Diff(sections, alerts); diff != "" {
		t.Errorf("runbooks (-page +alerts):\n%s", diff)
	}
}
