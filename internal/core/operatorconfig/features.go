package operatorconfig

// Features are settings for every stack.
type Features struct {
	// NetworkPolicies reports whether every stack has a NetworkPolicy. If it is false, only stacks with
	// spec.networking.allowedFrom have one.
	NetworkPolicies bool
}

const featuresHelp = `# Features of every stack, regardless of its spec.
# A NetworkPolicy (default: only for stacks that set allowedFrom).
# enableNetworkPolicy: {enabled: true}
`

func readFeatures(r *reader, root node, features *Features) {
	r.fields(root, map[string]func(node){
		"enableNetworkPolicy": func(n node) {
			r.fields(n, map[string]func(node){
				"enabled": func(n node) { features.NetworkPolicies = r.boolean(n) },
			})
		},
	})
}
