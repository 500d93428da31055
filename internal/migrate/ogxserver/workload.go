package ogxserver

import (
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
)

// mountPath is the default mount path of an OGXServer's volume.
const mountPath = "/.ogx"

// workload converts the settings of the workload.
func (c *conversion) workload() {
	for _, field := range []string{"replicas", "workers", "podDisruptionBudget", "topologySpreadConstraints"} {
		c.move("spec.workload."+field, "spec.workload."+field)
	}
	c.resources()
	c.autoscaling()
	c.volume()
	if claims := c.get("spec.workload.resourceClaims"); claims != nil {
		c.put(runtime.DeepCopyJSONValue(claims), "spec", "workload", "overrides", "podTemplate", "spec", "resourceClaims")
		c.went(path("spec.workload.resourceClaims"), path("spec.workload.overrides.podTemplate.spec.resourceClaims"))
	}
}

// resources converts the resources of the container. It adds the requests that the ogx-k8s-operator would add and, if
// workers is set, the limits.
func (c *conversion) resources() {
	given, ok := runtime.DeepCopyJSONValue(c.get("spec.workload.resources")).(map[string]any)
	workers, limited := c.number("spec.workload.workers")
	if !ok && !limited {
		return
	}
	if given == nil {
		given = make(map[string]any)
	}
	added := addDefaults(given, max(workers, 1), limited)
	c.put(given, "spec", "workload", "resources")
	c.went(path("spec.workload.resources"), path("spec.workload.resources"))
	if added {
		c.note("These resources include the defaults of an OGXServer: its requests and, if workers is set, limits that equal the requests.",
			"spec", "workload", "resources")
	}
}

// addDefaults adds each missing request that does not exceed its limit and, if limited is true, the missing limits. It
// reports whether it added a value.
func addDefaults(given map[string]any, workers int64, limited bool) bool {
	requests, limits := child(given, "requests"), child(given, "limits")
	added := false
	for name, usual := range map[string]string{"cpu": strconv.FormatInt(workers, 10), "memory": "1Gi"} {
		if unset(requests[name]) && !below(limits[name], usual) {
			requests[name], added = usual, true
		}
		if limited && unset(limits[name]) && requests[name] != nil {
			limits[name], added = requests[name], true
		}
	}
	if len(limits) == 0 {
		delete(given, "limits")
	}
	return added
}

// child returns a nested object, and creates it if necessary.
func child(object map[string]any, name string) map[string]any {
	inner, ok := object[name].(map[string]any)
	if !ok {
		inner = make(map[string]any)
		object[name] = inner
	}
	return inner
}

func parsed(value any) (resource.Quantity, bool) {
	amount, err := quantity.Parse(fmt.Sprint(value))
	return amount, err == nil && value != nil
}

func unset(value any) bool {
	amount, ok := parsed(value)
	return !ok || amount.IsZero()
}

// below reports whether there is a limit below the request.
func below(limit any, request string) bool {
	amount, ok := parsed(limit)
	return ok && !amount.IsZero() && amount.Cmp(resource.MustParse(request)) < 0
}

// autoscaling converts the autoscaler. If the OGXServer has more replicas than the minimum, autoscaling raises the
// minimum to the number of replicas.
func (c *conversion) autoscaling() {
	const field = "spec.workload.autoscaling"
	if c.get(field) == nil {
		return
	}
	for from, to := range map[string]string{
		"minReplicas": "minReplicas", "maxReplicas": "maxReplicas",
		"targetCPUUtilizationPercentage":    "targetCPUUtilization",
		"targetMemoryUtilizationPercentage": "targetMemoryUtilization",
	} {
		c.move(field+"."+from, field+"."+to)
	}
	least, _ := c.number(field + ".minReplicas")
	if replicas, _ := c.number("spec.workload.replicas"); replicas > max(least, 1) {
		c.put(json.Number(strconv.FormatInt(replicas, 10)), path(field+".minReplicas")...)
		c.note("The autoscaler of an OGXServer does not scale below spec.workload.replicas.", path(field+".minReplicas")...)
	}
}

// volume converts the PersistentVolumeClaim for the server's data.
func (c *conversion) volume() {
	const field = "spec.workload.storage"
	if c.get(field) == nil {
		return
	}
	c.move(field+".size", field+".size")
	place := path(field + ".mountPath")
	c.put(mountPath, place...)
	if c.text(field+".mountPath") != "" {
		c.move(field+".mountPath", field+".mountPath")
		return
	}
	c.note("This is the path at which an OGXServer mounts its volume.", place...)
}
