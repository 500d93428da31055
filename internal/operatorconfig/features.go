package operatorconfig

// Features are what every stack gets.
type Features struct {
	// NetworkPolicies reports whether each stack has a NetworkPolicy. Unset: those that ask
	// for one with spec.networking.allowedFrom.
	NetworkPolicies bool
}

const featuresHelp = `# What every stack gets, whatever its spec says.
# A NetworkPolicy; unset: the stacks that ask for one with allowedFrom.
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
