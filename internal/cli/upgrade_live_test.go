package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const allStacks = "/apis/llamastack.io/v1alpha2/llamastackdistributions"

// fleet adds stacks with the given specs to the server. The keys of specs are the names of the stacks.
func (c *liveCluster) fleet(t *testing.T, specs map[string]string) {
	t.Helper()
	var items []any
	for _, name := range []string{"boots", "pinned", "refused", "gone", "mapped"} {
		spec, there := specs[name]
		if !there {
			continue
		}
		one := liveObject(t, strings.Replace(stack(spec), "name: demo", "name: "+name, 1))
		if name == "gone" {
			one["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		}
		items = append(items, one)
		c.objects[stacksOfA+"/"+name] = one
	}
	c.objects[stacksOfA], c.objects[allStacks] = stackList(items...), stackList(items...)
}

var specs = map[string]string{
	"boots":   liveSpec,
	"pinned":  `{distribution: {image: "registry.example.com/team/server:1"}}`,
	"refused": strings.Replace(liveSpec, "[m]}", "[m], shields: [s]}", 1),
	"gone":    liveSpec,
	"mapped":  `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`,
}

func TestUpgradeCheckOfCluster(t *testing.T) {
	c := newLiveCluster(t)
	c.fleet(t, specs)
	c.objects[mapsOfA+"mine"] = liveObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}, data: {config.yaml: '{distro_name: a, providers: {}}'}}")
	got := c.run(t, "", "upgrade-check", "--to", "1.5", "-A")
	got.exits(t, 1)
	contains(t, got.err, "1 of 5 stacks would not start on release 1.5")
	for name, want := range map[string]string{
		"boots": "starts", "pinned": "pinned", "refused": "would not start", "gone": "being deleted", "mapped": "starts",
	} {
		if words := fields(t, got.out, "team-a", name); strings.Join(words[4:4+len(strings.Fields(want))], " ") != want {
			t.Errorf("the table shows stack %s as %q", name, words)
		}
	}
	contains(t, got.out, "\nteam-a/refused: 0.7 to 1.5: would not start\n", "  1. spec.resources.shields[0] (prevents the upgrade)\n", "stacks; to see a report that is not shown, add the name of the stack")
	lists := 0
	for _, request := range c.requests {
		if request == "GET "+allStacks {
			lists++
		}
		if strings.HasPrefix(request, "GET "+stacksOfA) || strings.Contains(request, "deployments/") {
			t.Errorf("the command sends the unnecessary request %s", request)
		}
	}
	if lists != 1 || len(c.requests) > 8 {
		t.Errorf("the command sends %d list requests of %d requests: %q", lists, len(c.requests), c.requests)
	}
}

func TestUpgradeCheckOfClusterAsJSON(t *testing.T) {
	c := newLiveCluster(t)
	c.fleet(t, specs)
	c.forbidden = []string{"configmaps"}
	got := c.run(t, "", "upgrade-check", "--to", "1.5", "-o", "json")
	var reports []struct {
		Namespace, Stack, Result string
		Unknown                  []string
		Actions                  []struct{ Field, Problem, Remedy string }
	}
	if err := json.Unmarshal([]byte(got.out), &reports); err != nil || len(reports) != len(specs) {
		t.Fatalf("%v\n%s%s", err, got.out, got.err)
	}
	for _, report := range reports {
		switch {
		case report.Stack == "refused" && (len(report.Actions) == 0 || report.Actions[0].Field != "spec.resources.shields[0]" || report.Actions[0].Remedy == ""):
			t.Errorf("the actions are %+v", report.Actions)
		case report.Stack == "mapped" && (report.Result != "not known" || len(report.Unknown) != 1):
			t.Errorf("report for a ConfigMap that the user cannot read: %+v", report)
		}
	}
	contains(t, got.err, "warning: not known: the operator's ConfigMap", `warning: not known: you cannot get configmaps in namespace "team-a"`)
}

// The current release is the release of the image in the status. An image override applies to every release.
func TestUpgradeCheckOfClusterFromStatus(t *testing.T) {
	c := newLiveCluster(t)
	c.fleet(t, map[string]string{"boots": liveSpec})
	const image = "docker.io/ogxai/distribution-starter:0.6.0"
	stored := c.objects[stacksOfA+"/boots"].(map[string]any)
	stored["status"] = map[string]any{"resolvedDistribution": map[string]any{
		"name": "starter", "catalogueImage": image,
		"image": image,
	}, "version": map[string]any{"operatorVersion": "0.9"}}
	contains(t, c.run(t, "", "upgrade-check", "--to", "1.5", "boots").err, "the operator has version 0.9, and this command has version test")
	contains(t, c.run(t, "", "upgrade-check", "--to", "1.5", "boots").out, "team-a/boots: 0.6 to 1.5",
		"~ image: "+image+" -> docker.io/ogxai/")
	delete(stored, "status")
	c.objects[allMaps] = mapList(liveObject(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: llama-stack-operator-config}, data: {image-overrides: 'starter: mirror.example.com/starter:latest'}}`))
	contains(t, c.run(t, "", "upgrade-check", "--to", "1.5", "boots").out,
		"image-overrides\n     the image remains \"mirror.example.com/starter:latest\"")
}

func TestUpgradeCheckOfNoStacks(t *testing.T) {
	c := newLiveCluster(t)
	c.objects[stacksOfA] = stackList()
	contains(t, c.run(t, "", "upgrade-check", "--to", "1.5").err, "note: the command line selects no stacks; to check")
}

// The command sends one list request for each page of stacks, and reads a ConfigMap only once even if several stacks
// refer to it.
func TestUpgradeCheckOfManyStacks(t *testing.T) {
	c := newLiveCluster(t)
	var items []any
	for i := range 120 {
		items = append(items, liveObject(t, strings.Replace(stack(`{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`),
			"name: demo", fmt.Sprintf("name: demo-%d", i), 1)))
	}
	c.objects[stacksOfA] = stackList(items...)
	c.objects[mapsOfA+"mine"] = liveObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}, data: {config.yaml: '{distro_name: a, providers: {}}'}}")
	got := c.run(t, "", "upgrade-check", "--to", "1.5")
	if got.code != 0 || len(c.requests) > 8 {
		t.Errorf("exit code %d, %d requests\n%s", got.code, len(c.requests), got.err)
	}
	contains(t, got.err, "100 of 120 stacks")
}
