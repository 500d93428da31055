package layout

import (
	"strings"
	"unicode/utf8"
)

// Node is a node of a tree.
type Node struct {
	// Text is the text of the node, which may have several lines.
	Text string
	// Children are drawn below the node.
	Children []Node
}

// Add appends a child.
func (n *Node) Add(text string, children ...Node) {
	n.Children = append(n.Children, Node{Text: text, Children: children})
}

// These constants are the beginnings of lines in a tree. The first two constants begin the first line of a child. The
// other two begin the other lines of the child and the lines of its children. The second and fourth constants are for
// the last child.
const (
	branch     = "├─ "
	lastBranch = "└─ "
	beside     = "│  "
	below      = "   "
)

// String returns the tree in lines of at most `width` characters. A line may be longer in a narrow terminal, or if a
// word is long. A width of zero means no limit.
func (n *Node) String(width int) string {
	var out strings.Builder
	n.write(&out, "", "", width)
	return out.String()
}

// write draws a node. The string `first` precedes the first line, and `rest` precedes all other lines.
func (n *Node) write(out *strings.Builder, first, rest string, width int) {
	further := rest
	if len(n.Children) > 0 {
		further += beside
	} else {
		further += below
	}
	room := 0
	if width > 0 {
		room = max(MinWidth/2, width-utf8.RuneCountInString(further))
	}
	for i, line := range Wrap(n.Text, room) {
		lead := further
		if i == 0 {
			lead = first
		}
		out.WriteString(strings.TrimRight(lead+line, " ") + "\n")
	}
	for i := range n.Children {
		lead, next := branch, beside
		if i == len(n.Children)-1 {
			lead, next = lastBranch, below
		}
		n.Children[i].write(out, rest+lead, rest+next, width)
	}
}
