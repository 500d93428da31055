package ogxserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// dataVolume is the name of the volume with an OGXServer's data.
const dataVolume = "ogx-storage"

// overrides converts the user's changes to the pod.
func (c *conversion) overrides() {
	const field = "spec.workload.overrides"
	for _, name := range []string{"serviceAccountName", "env", "command", "args", "volumes", "volumeMounts"} {
		c.move(field+"."+name, field+"."+name)
	}
	mounts, _ := at(c.result.Object, path(field+".volumeMounts")...).([]any)
	for i, value := range mounts {
		if mount, _ := value.(map[string]any); mount["name"] == dataVolume {
			mount["name"] = names.DataVolume
			c.note("This is the name of the volume with the server's data. In an OGXServer, the volume has the name "+dataVolume+".",
				append(path(field+".volumeMounts"), strconv.Itoa(i), "name")...)
		}
	}
	c.ownPaths()
	if seconds := c.get("spec.registryRefreshIntervalSeconds"); seconds != nil {
		c.variable("OGX_REGISTRY_REFRESH_INTERVAL_SECONDS", fmt.Sprint(seconds), "spec.registryRefreshIntervalSeconds")
	}
}

// ownNames matches paths and variables that exist in an OGXServer's pods but not in a stack's pods.
var ownNames = regexp.MustCompile(`/etc/ogx\b|\bOGX_(CONFIG|WORKERS)\b`)

// ownPaths warns about commands and variables that depend on names in ownNames.
func (c *conversion) ownPaths() {
	for _, name := range []string{"command", "args", "env"} {
		field := "spec.workload.overrides." + name
		data, err := json.Marshal(c.get(field))
		if err != nil || !ownNames.Match(data) {
			continue
		}
		c.differs("This field contains "+string(ownNames.Find(data))+", which the pods of a stack do not have. "+
			"The variable LLAMA_STACK_CONFIG contains the path of the configuration, /etc/llama-stack/config.yaml, "+
			"and LLS_WORKERS contains the number of workers. Use these variables instead.", path(field)...)
	}
}

// variable adds a variable to the server's container, unless the user sets a variable with that name.
func (c *conversion) variable(name, value, from string) {
	place := path("spec.workload.overrides.env")
	env, _ := at(c.result.Object, place...).([]any)
	for i, item := range env {
		if variable, _ := item.(map[string]any); variable["name"] == name {
			c.went(path(from), append(place, strconv.Itoa(i)))
			c.needless(from, "the variable "+name+" in spec.workload.overrides.env takes precedence, as in an OGXServer")
			return
		}
	}
	c.put(append(env, map[string]any{"name": name, "value": value}), place...)
	c.went(path(from), append(place, strconv.Itoa(len(env)), "value"))
	c.note("In an OGXServer, the field "+from+" sets this variable.", append(place, strconv.Itoa(len(env)), "name")...)
}
