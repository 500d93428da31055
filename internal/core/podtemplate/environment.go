package podtemplate

import "slices"

// environment holds the variables of the server's container that are excluded from the merge, because the patch does
// not name them. A stack has a variable for each key of a Secret, and the merge takes quadratic time in the number of
// variables, because the merge searches the list for each of its items.
type environment struct {
	server string
	// before contains the variables of the template. Nil means that no variable is excluded from the merge.
	before []any
	named  naming
}

// naming records each variable that a patch names, and whether the patch removes it.
type naming map[any]bool

// setAside removes from the template the variables that the patch does not name. It returns the data with which putBack
// adds them again.
func setAside(template, patch map[string]any, server string) environment {
	container := find(items(template, "spec", "containers"), "name", server)
	before, _ := container["env"].([]any)
	named, ok := namedIn(items(patch, "spec", "containers"), server)
	if len(before) == 0 || !ok {
		return environment{}
	}
	container["env"] = slices.DeleteFunc(slices.Clone(before),
		func(item any) bool { _, is := named[name(item)]; return !is })
	return environment{server: server, before: before, named: named}
}

// namedIn returns the names of the variables in a patch of the containers. It returns false if the patch names no
// variable, or if the patch does more than set and remove variables, because only the merge can then determine the
// effect on the other variables.
func namedIn(containers []any, server string) (naming, bool) {
	patch := onlyPatch(containers, server)
	list, _ := patch["env"].([]any)
	if _, ordered := patch["$setElementOrder/env"]; ordered || len(list) == 0 {
		return nil, false
	}
	named := make(naming, len(list))
	for _, item := range list {
		variable, _ := item.(map[string]any)
		key, ok := variable["name"].(string)
		what, directed := variable[directive]
		if !ok || directed && what != remove {
			return nil, false
		}
		named[key] = named[key] || directed
	}
	return named, true
}

// onlyPatch returns the patch of the server's container. It returns nil if the list does not contain exactly one such
// patch, or if a directive applies to a whole container.
func onlyPatch(containers []any, server string) map[string]any {
	var patch map[string]any
	for _, item := range containers {
		container, _ := item.(map[string]any)
		_, directed := container[directive]
		if directed || container["name"] == server && patch != nil {
			return nil
		}
		if container["name"] == server {
			patch = container
		}
	}
	return patch
}

// putBack adds to the merged list the variables that setAside removed, in the order of a complete merge. The variables
// of the patch keep the order of the patch. Each other variable precedes the first variable of the patch that followed
// it in the template. If no variable of the patch followed it, the other variable is at the end.
func (e environment) putBack(template map[string]any) {
	container := find(items(template, "spec", "containers"), "name", e.server)
	if e.before == nil || container == nil {
		return
	}
	position, others := e.positions()
	merged, _ := container["env"].([]any)
	result := make([]any, 0, len(others)+len(merged))
	for _, item := range merged {
		at, known := position[name(item)]
		for known && len(others) > 0 && others[0] < at {
			result = append(result, e.before[others[0]])
			others = others[1:]
		}
		result = append(result, item)
	}
	for _, i := range others {
		result = append(result, e.before[i])
	}
	container["env"] = result
}

// positions returns two results for the template: the position of each variable that the patch does not remove, and the
// positions of the variables that the patch does not name.
func (e environment) positions() (position map[any]int, others []int) {
	position = make(map[any]int, len(e.before))
	for i, item := range e.before {
		removed, named := e.named[name(item)]
		if !named {
			others = append(others, i)
		}
		if !removed {
			position[name(item)] = i
		}
	}
	return position, others
}
