package yamlnode

import "strconv"

// Path is the place of a node below a root, as the last step to the node and the place above it. Nil is the root.
// A walk through a tree makes no text for the nodes that it has nothing to say about.
type Path struct {
	above *Path
	key   string
	item  int
	keyed bool
}

// Below returns a path for the nodes below a path. Key or Item must set its last step.
func (p *Path) Below() Path { return Path{above: p} }

// Key makes a key the last step.
func (p *Path) Key(key string) *Path {
	p.key, p.keyed = key, true
	return p
}

// Item makes the i-th item of a sequence the last step.
func (p *Path) Item(i int) *Path {
	p.item, p.keyed = i, false
	return p
}

// String returns the path as text, for example providers.inference[2].config. The root is the empty string.
func (p *Path) String() string { return string(p.appendTo(nil)) }

func (p *Path) appendTo(text []byte) []byte {
	if p == nil {
		return text
	}
	text = p.above.appendTo(text)
	if !p.keyed {
		return append(strconv.AppendInt(append(text, '['), int64(p.item), 10), ']')
	}
	if len(text) > 0 {
		text = append(text, '.')
	}
	return append(text, p.key...)
}
