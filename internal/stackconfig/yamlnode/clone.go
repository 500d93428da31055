package yamlnode

import "go.yaml.in/yaml/v3"

// Clone copies a tree. It has no aliases (ParseBase expands them), so that a
// copy shares nothing with the original.
func Clone(node *yaml.Node) *yaml.Node {
	if node == nil {
		return nil
	}
	// Two blocks for the whole tree instead of two for every node: a
	// configuration has a thousand nodes, and each is copied for every run.
	nodes, links := count(node)
	c := cloner{nodes: make([]yaml.Node, 0, nodes), links: make([]*yaml.Node, 0, links)}
	return c.clone(node)
}

func count(node *yaml.Node) (nodes, links int) {
	nodes, links = 1, len(node.Content)
	for _, child := range node.Content {
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
	// The capacity ends with the block, so that appending moves it away.
	copied.Content = c.links[from:len(c.links):len(c.links)]
	for i, child := range node.Content {
		copied.Content[i] = c.clone(child)
	}
	return copied
}
