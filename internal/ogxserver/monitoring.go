package ogxserver

import (
	"encoding/json"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// metricsPort is the default port of an OGXServer for metrics.
const metricsPort = "9464"

// monitoring keeps the metrics of the server if the OGXServer configures them. The user has to set up scraping.
func (c *conversion) monitoring() {
	const field = "spec.monitoring"
	if c.get(field+".enabled") == false {
		c.needless(field, "it is not enabled, and a stack serves no metrics of its server either unless you ask for it")
		return
	}
	const scrape = "write a PodMonitor or ServiceMonitor, and alerts, of your own"
	if c.get(field) == nil {
		c.leaveOut(field, "an OGXServer without it serves metrics on port "+metricsPort+" and has a ServiceMonitor and a PrometheusRule. A stack does not: "+
			"set OGX_METRICS_ENDPOINT_ENABLED to 1 and OGX_METRICS_HOST to 0.0.0.0 in spec.workload.overrides.env, and "+scrape)
		return
	}
	port := metricsPort
	if given := c.get(field + ".metricsPort"); given != nil {
		port = fmt.Sprint(given)
	}
	c.variable("OGX_METRICS_ENDPOINT_ENABLED", "1", field+".enabled")
	c.variable("OGX_METRICS_HOST", "0.0.0.0", field)
	c.variable("OGX_METRICS_PORT", port, field+".metricsPort")
	c.put([]any{map[string]any{
		"name":  names.ServerContainer(nil),
		"ports": []any{map[string]any{"name": "metrics", "containerPort": json.Number(port)}},
	}}, "spec", "workload", "overrides", "podTemplate", "spec", "containers")
	c.leaveOut(field, "the server still serves its metrics on port "+port+", but a stack has no ServiceMonitor, PrometheusRule or port of its Service for "+
		"them: "+scrape+"; where spec.networking.allowedFrom is set, let the scraper in with a NetworkPolicy of your own")
}
