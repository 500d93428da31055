package yamlnode

import "go.yaml.in/yaml/v3"

// Clone copies a tree except for its scalars. The copy shares the scalars with the original, because all code replaces
// scalars and never changes them in place. If a node occurs in several places in the original (package baseconfig
// replaces aliases with their targets), the copy has a separate collection in each place.
func Clone(node *yaml.Node) *yaml.Node {
	if node == nil || node.Kind == yaml.ScalarNode {
		return node
	}
	// Clone allocates two blocks for the whole tree instead of two for every node, because a configuration has hundreds of
	// collections, and each run copies all of them.
	nodes, links := count(node)
	c := cloner{nodes: make([]yaml.Node, 0, nodes), links: make([]*yaml.Node, 0, links)}
	return c.clone(node)
}

// count counts the collections and their items.
func count(node *yaml.Node) (nodes, links int) {
	nodes, links = 1, len(node.Content)
	for _, child := range node.Content {
		if child.Kind == yaml.ScalarNode {
			continue
		}
		n, l := count(child)
		nodes += n
		links += l
	}
	return nodes, links
}

type cloner struct {
	nodes []yaml.Node
	links []*yaml.Node
}

func (c *cloner) clone(node *yaml.Node) *yaml.Node {
	c.nodes = append(c.nodes, *node)
	copied := &c.nodes[len(c.nodes)-1]
	if len(node.Content) == 0 {
		copied.Content = nil
		return copied
	}
	from := len(c.links)
	c.links = c.links[:from+len(node.Content)]
	// The capacity ends with the block, so that append allocates a new array.
	copied.Content = c.links[from:len(c.links):len(c.links)]
	for i, child := range node.Content {
		if child.Kind != yaml.ScalarNode {
			child = c.clone(child)
		}
		copied.Content[i] = child
	}
	return copied
}
