package ogxserver

import (
	"encoding/json"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// metricsPort is an OGXServer's default port for metrics.
const metricsPort = "9464"

// monitoring keeps the server's metrics enabled if the OGXServer configures them. The user must set up scraping.
func (c *conversion) monitoring() {
	const field = "spec.monitoring"
	if c.get(field+".enabled") == false {
		c.needless(field, "monitoring is not enabled, and a stack's server serves metrics only if you enable them")
		return
	}
	const scrape = "create a PodMonitor and alerts"
	if c.get(field) == nil {
		c.leaveOut(field, "an OGXServer without this field serves metrics on port "+metricsPort+" and has a ServiceMonitor and a PrometheusRule; "+
			"by default, a stack serves no metrics and has neither of these objects: "+
			"set OGX_METRICS_ENDPOINT_ENABLED to 1 and OGX_METRICS_HOST to 0.0.0.0 in spec.workload.overrides.env, and "+scrape)
		return
	}
	port := c.metrics(field)
	c.leaveOut(field, "the server still serves its metrics on port "+port+", but a stack has no ServiceMonitor, "+
		"no PrometheusRule and no Service port for them: "+scrape+"; if spec.networking.allowedFrom is set, also create a NetworkPolicy that allows connections from the scraper")
}

// metrics enables the server's metrics as an OGXServer does, and returns their port.
func (c *conversion) metrics(field string) string {
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
	return port
}
