package script

// Page is a documentation page, read as a script.
type Page struct {
	// Blocks are the fenced blocks and the hidden blocks of commands, in order. Fenced blocks in HTML comments are
	// omitted.
	Blocks []Block
	// StandIns are the stand-ins for model servers in the namespace of the page.
	StandIns []StandIn
	// Repository reports whether the commands run in a copy of the repository's manifests.
	Repository bool
	// Servers contains the names of the databases and other servers that the page needs in its namespace.
	Servers []string
	// RealServer reports whether the stacks of the page run the real server on a node, and not a stand-in.
	RealServer bool
	// Alone reports whether the page must not run at the same time as any other page.
	Alone bool
	// Problems are the errors in the page itself.
	Problems []Problem
}

// StandIn is a stand-in for a model server.
type StandIn struct {
	// Name is the name of the Service.
	Name string
	// Port is the port of the Service.
	Port string
	// Models are the models that the stand-in lists. If the list is empty, the stand-in uses its default list.
	Models []string
}

// Problem is an error in a page.
type Problem struct {
	Line int
	Text string
}

// Where is the kind of cluster on which a block runs.
type Where int

const (
	// Gate blocks run on an API server without nodes, and also on a node.
	Gate Where = iota
	// Node blocks run only on a node.
	Node
	// Nowhere blocks do not run. Each has a reason.
	Nowhere
)

// Block is a fenced block, or a hidden block of commands.
type Block struct {
	// Line is the line number of the opening fence.
	Line int
	// Language is the first word after the fence.
	Language string
	// Title is the path of the file to which the block is written.
	Title string
	// Text is the text of the block, with a line break at the end of each line.
	Text string
	// Where is the kind of cluster on which the block runs. Only a block that does not run has a Reason.
	Where  Where
	Reason string
	// Hidden reports whether the block is invisible to readers.
	Hidden bool
	// Invalid reports whether the block is intentionally not a valid manifest.
	Invalid bool
	// Interrupted reports whether readers end the first command of the block with Ctrl-C. The test runs this command in
	// the background.
	Interrupted bool
	// Commands are the commands of a console block, or the only command of a hidden block.
	Commands []Command
}

// Command is a command with its expected output.
type Command struct {
	// Line is the line number of the command's first line.
	Line int
	// Text is the command for the shell.
	Text string
	// Exit is the expected exit code.
	Exit int
	// Output contains the lines that the page shows below the command. If it is empty, the output is not compared.
	Output []string
	// first and last are the bounds of the output in the lines of the page, for Update.
	first, last int
	// indent is the indentation of the block.
	indent string
}

// Languages lists the permitted languages of blocks on pages for users.
var Languages = []string{
	"console", "diff", "dockerfile", "ini", "javascript", "json", "lua", "mermaid", "python", "text", "toml", "vim", "xml",
	"yaml",
}

// Console is the language of blocks with commands.
const Console = "console"

// Count returns the number of visible commands in the blocks for the given kind of cluster. For Nowhere, it is the
// number of commands that do not run. On a node, the commands of gate blocks also run.
func (p *Page) Count(where Where) (commands int) {
	for i := range p.Blocks {
		if p.Blocks[i].Where == where && !p.Blocks[i].Hidden {
			commands += len(p.Blocks[i].Commands)
		}
	}
	return commands
}
