package app

import (
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/progress"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
)

// Streams contains the input and the outputs of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Color enables colored messages with --color auto. Set it only for a terminal.
	Color bool
	// Width is the number of columns of the terminal. Zero means that Out is not a terminal.
	Width int
	// MessageWidth is the same for Err. On a terminal, messages are wrapped, and grouped by stack.
	MessageWidth int
	// Terminal reports whether Err is a terminal. Without a terminal, commands show no progress.
	Terminal bool

	// choice is the value of --color.
	choice *colorChoice
}

// Prepared returns streams whose outputs show control characters as text, and that share a value of --color.
func (s Streams) Prepared() Streams {
	s.Out, s.Err = visible.New(s.Out), visible.New(s.Err)
	if s.choice == nil {
		s.choice = new(colorAuto)
	}
	return s
}

// ColorFlag returns the flag --color.
func (s *Streams) ColorFlag() *pflag.Flag {
	return &pflag.Flag{
		Name: "color", Value: s.choice, DefValue: s.choice.String(),
		Usage: "colors in messages: auto (on a terminal, unless $NO_COLOR is set), always or never",
	}
}

// colored reports whether messages have colors.
func (s *Streams) colored() bool {
	if s.choice == nil || *s.choice == colorAuto {
		return s.Color
	}
	return *s.choice == colorAlways
}

// Progress returns the line that shows the progress of a command.
func (s *Streams) Progress() *progress.Line {
	if !s.Terminal {
		return progress.New(nil)
	}
	return progress.New(visible.Raw(s.Err))
}

// colorChoice is a value of --color.
type colorChoice string

// These constants are the values of --color.
const (
	colorAuto   colorChoice = "auto"
	colorAlways colorChoice = "always"
	colorNever  colorChoice = "never"
)

var colorChoices = []string{string(colorAuto), string(colorAlways), string(colorNever)}

// String returns the value.
func (c *colorChoice) String() string { return string(*c) }

// Type returns the name of the value's type for help texts.
func (c *colorChoice) Type() string { return "string" }

// Set sets the value. It returns an error for an invalid value.
func (c *colorChoice) Set(value string) error {
	if !slices.Contains(colorChoices, value) {
		return UnknownValue("--color", value, colorChoices)
	}
	*c = colorChoice(value)
	return nil
}

// Must panics if cobra returns an error for a flag. Only an incorrect flag name in the code causes such an error.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
