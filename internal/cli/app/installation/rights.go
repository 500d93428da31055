package installation

import "github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"

// Needed returns the permissions that a user needs in a namespace. The empty namespace means all namespaces.
func Needed(namespace string) []Right {
	stacks := func(verb, needed string) Right {
		return Right{
			Verb: verb, Group: v1alpha2.GroupVersion.Group, Resource: "llamastackdistributions", Namespace: namespace,
			Needed: needed,
		}
	}
	apps := func(verb, resource string) Right {
		return Right{
			Verb: verb, Group: "apps", Resource: resource, Namespace: namespace, Needed: "find the pods that belong to a stack",
		}
	}
	core := func(verb, resource, subresource, needed string) Right {
		return Right{Verb: verb, Resource: resource, Subresource: subresource, Namespace: namespace, Needed: needed}
	}
	return []Right{
		stacks("get", "show a stack"),
		stacks("list", "list stacks"),
		stacks("create", "create a stack"),
		stacks("update", "change a stack"),
		stacks("delete", "delete a stack"),
		apps("get", "deployments"),
		apps("list", "replicasets"),
		core("get", "pods", "", "show the pods of a stack"),
		core("list", "pods", "", "list the pods of a stack"),
		core("get", "pods", "log", "read server logs"),
		core("create", "pods", "portforward", "connect to the server of a stack, list its models, or chat with a model"),
		core("list", "events", "", "read the events of a stack"),
	}
}
