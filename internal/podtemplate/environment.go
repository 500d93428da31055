package podtemplate

import "slices"

// environment keeps the variables of the server's container that a patch does not name out of the merge, and puts them
// back in their places. A stack has a variable for each key of a Secret, and the merge takes quadratic time in their
// number, because it sorts the list by searching for each of its items.
type environment struct {
	server string
	// before are the variables of the template. Nil means that the merge gets all of them.
	before []any
	named  naming
}

// naming contains each variable that a patch names, and whether the patch removes it.
type naming map[any]bool

// setAside removes the variables that the patch does not name from the template.
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

// namedIn returns the names of the variables in a patch of the containers. It returns false when there are none, or
// when the patch does more than set and remove variables, so that only the merge itself can determine the result for
// the others.
func namedIn(containers []any, server string) (naming, bool) {
	var patch map[string]any
	for _, item := range containers {
		container, _ := item.(map[string]any)
		if _, directed := container[directive]; directed {
			return nil, false
		}
		if container["name"] != server {
			continue
		}
		if patch != nil {
			return nil, false
		}
		patch = container
	}
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

// putBack merges the variables that were set aside into the list in the order of the merge: those of the patch in its
// order, and each other one before the next variable of the patch that came after it.
func (e environment) putBack(template map[string]any) {
	container := find(items(template, "spec", "containers"), "name", e.server)
	if e.before == nil || container == nil {
		return
	}
	position := make(map[any]int, len(e.before))
	var others []int
	for i, item := range e.before {
		removed, named := e.named[name(item)]
		if !named {
			others = append(others, i)
		}
		if !removed {
			position[name(item)] = i
		}
	}
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
