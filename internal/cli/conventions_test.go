package cli_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// cases are the command lines of one command that result in the exit codes 0, 1 and 2. Nil means that the test does not
// run the command for this exit code.
type cases struct{ success, rejected, usage []string }

// exitCases contains command lines for every command that runs without a cluster. {good}, {bad} and {new} are files,
// and {folder} is a folder.
var exitCases = map[string]cases{
	"init": {
		[]string{"--provider", "ollama", "--endpoint", "http://ollama:11434"}, nil, []string{"--provider", "olama"},
	},
	"render":    {[]string{"-f", "{good}"}, []string{"-f", "{bad}"}, []string{"-f", "{new}"}},
	"validate":  {[]string{"-f", "{good}"}, []string{"-f", "{bad}"}, []string{"-f", "{good}", "-o", "xml"}},
	"providers": {[]string{"vllm"}, nil, []string{"--release", "9.9"}},
	"upgrade-check": {
		[]string{"-f", "{good}", "--to", "0.8"},
		[]string{"-f", "{bad}", "--to", "0.8"},
		[]string{"-f", "{good}"},
	},
	"convert":       {[]string{"-f", "{good}"}, []string{"-f", "{bad}"}, []string{"-f", "{good}", "--to", "v9"}},
	"image inspect": {nil, []string{"oci:{folder}"}, []string{}},
	"image label":   {nil, []string{"oci:{folder}:a", "--release", "0.7"}, []string{"oci:{folder}:a"}},
	"bundle load":   {nil, []string{"{good}", "--registry", "registry:5000"}, []string{"{good}"}},
	"migrate":       {[]string{"--dry-run", "-f", "{good}"}, []string{"--dry-run", "-f", "{bad}"}, []string{}},
}

// Commands that run without a cluster have the exit codes that docs/reference/cli/README.md and the help of the root
// command specify.
func TestExitCodes(t *testing.T) {
	folder := write(t, map[string]string{"good.yaml": stack(simple), "bad.yaml": stack("{distribution: {name: starter}, networkin: {}}")})
	files := strings.NewReplacer("{good}", filepath.Join(folder, "good.yaml"), "{bad}", filepath.Join(folder, "bad.yaml"),
		"{new}", filepath.Join(folder, "new.yaml"), "{folder}", folder)
	for verb, c := range exitCases {
		for code, args := range [][]string{c.success, c.rejected, c.usage} {
			if args == nil {
				continue
			}
			line := strings.Fields(verb)
			for _, arg := range args {
				line = append(line, files.Replace(arg))
			}
			run(t, "", line...).exits(t, code, line)
			if code == 0 {
				checkData(t, line)
			}
		}
		run(t, "", append(strings.Fields(verb), "--no-such-flag")...).exits(t, 2, verb)
	}
	page := golden.Read(t, "../../docs/reference/cli/README.md")
	help := run(t, "", "--help").out
	for _, line := range []string{
		"success", "there is a problem: a manifest, an image or a stack is rejected, or the work is not complete",
		"the command line is invalid: an unknown command, flag or value, or a file that does not exist",
	} {
		contains(t, help, line)
		contains(t, string(page), line)
	}
}

// checkData checks that a command prints JSON and YAML if its flag --output accepts them.
func checkData(t *testing.T, line []string) {
	t.Helper()
	command, _, err := cli.NewCommand(cli.Streams{}, "test").Find(line)
	testutil.Must(t, err)
	output := command.Flags().Lookup("output")
	if output == nil || !strings.Contains(output.Usage, "table, json or yaml") {
		return
	}
	if command.Flags().Lookup("explain") != nil {
		line = append(slices.Clone(line), "--explain")
	}
	for form, decode := range map[string]func([]byte, any) error{
		"json": json.Unmarshal, "yaml": func(data []byte, into any) error { return yaml.Unmarshal(data, into) },
	} {
		got := run(t, "", append(slices.Clone(line), "-o", form)...)
		var value any
		if err := decode([]byte(got.out), &value); err != nil || value == nil {
			t.Errorf("%q -o %s: error %v\n%s%s", line, form, err, got.out, got.err)
		}
		if isJSON := strings.HasPrefix(got.out, "{\n") || strings.HasPrefix(got.out, "[\n"); isJSON && form == "yaml" {
			t.Errorf("%q -o yaml prints JSON", line)
		}
	}
}

// Every command has a row for its exit codes, and a help text with its flags and an example. It completes the values of
// --output and the flags that many commands have in common. A command that needs a cluster accepts kubectl's flags for
// the connection, which TestConnectionFlags uses.
func TestHelpAndCompletion(t *testing.T) {
	root := cli.NewCommand(cli.Streams{}, "test")
	for _, verb := range leaves(root) {
		words := strings.Fields(verb)
		command, _, err := root.Find(words)
		testutil.Must(t, err)
		// TestConventionsOfClusterVerbs has rows for the other commands.
		if _, listed := exitCases[verb]; !listed && command.Flags().Lookup("kubeconfig") == nil {
			t.Errorf("TestExitCodes has no row for the command %s", verb)
		}
		help := run(t, "", append(words, "--help")...)
		long, _, _ := strings.Cut(command.Long, "\n")
		want := []string{long, command.UseLine(), "kubectl llamastack " + verb}
		if command.Flags().Lookup("kubeconfig") != nil {
			want = append(want, "--as ", "--as-group ", "--request-timeout ", "--token ")
		}
		contains(t, help.out, want...)
		help.exits(t, 0, verb)
		values := map[string]string{"color": "never", "release": "0.7"}
		if output := command.Flags().Lookup("output"); output != nil && strings.Contains(output.Usage, "table, json or yaml") {
			values["output"] = "yaml"
		}
		for flag, value := range values {
			if command.Flag(flag) == nil {
				continue
			}
			line := append(append([]string{"__complete"}, words...), "--"+flag, "")
			if got := run(t, "", line...); !slices.Contains(strings.Split(got.out, "\n"), value) {
				t.Errorf("%q: no %q in\n%s", line, value, got.out)
			}
		}
	}
}

// leaves returns the names of the commands that have no subcommands.
func leaves(command *cobra.Command) []string {
	if len(command.Commands()) == 0 {
		return []string{strings.TrimPrefix(command.CommandPath(), "kubectl-llamastack ")}
	}
	var verbs []string
	for _, child := range command.Commands() {
		verbs = append(verbs, leaves(child)...)
	}
	return verbs
}

// The flag --color determines whether messages are colored. By default, messages are colored only on terminals.
func TestColorChoice(t *testing.T) {
	for _, tc := range []struct {
		terminal bool
		args     []string
		want     bool
	}{
		{false, nil, false},
		{true, nil, true},
		{true, []string{"--color", "never"}, false},
		{false, []string{"--color=always"}, true},
		{true, []string{"--color", "auto"}, true},
	} {
		for _, line := range [][]string{{"validate", "-f", "-"}, {"validate", "--no-such-flag"}} {
			if slices.Contains(line, "--no-such-flag") && len(tc.args) > 0 {
				continue // an unknown flag ends the parsing of flags
			}
			got := runStreams(t, cli.Streams{Color: tc.terminal}, stack("{distribution: {name: startr}}"),
				append(line, tc.args...)...)
			if colored := strings.Contains(got.err, "\x1b["); colored != tc.want {
				t.Errorf("%q, terminal %t: colored %t\n%q", append(line, tc.args...), tc.terminal, colored, got.err)
			}
		}
	}
	wrong := run(t, "", "providers", "--color", "allways")
	wrong.exits(t, 2)
	contains(t, wrong.err, `"allways" is not a valid value; use one of auto, always, never; did you mean "always"?`)
}

// The hidden command __complete, which shells run for completions, prints the possible values of flags and arguments.
// The command `completion` prints a script for each shell.
func TestCompletion(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"providers", "--release", "0.3", "--api", "inference", ""}, []string{"vllm", "tgi"}},
		{[]string{"providers", "--release", "1.5", "--api", ""}, []string{"inference", "vectorIo"}},
		{[]string{"render", "--release", ""}, []string{"0.7", "1.5"}},
		{[]string{"render", "-o", ""}, []string{"config", "objects", "all", "env", "table"}},
		{[]string{"init", "--release", "1.5", "--provider", ""}, []string{"vllm", "mistral"}},
		{[]string{"init", "--provider", "vertexai", "--setting", ""}, []string{"project=", "location="}},
		{[]string{"init", "--store", ""}, []string{"postgres"}},
		{[]string{"init", "--distribution", ""}, []string{"starter"}},
		{[]string{"validate", "-o", ""}, []string{"sarif", "github"}},
		{[]string{"validate", "-f", ""}, []string{"yaml", ":8"}},
		{[]string{"validate", "-k", ""}, []string{":16"}},
		{[]string{"convert", "--to", ""}, []string{"v1alpha1"}},
		{[]string{"upgrade-check", "-o", ""}, []string{"table", "yaml"}},
		{[]string{"--color", ""}, []string{"never"}},
	} {
		got := run(t, "", append([]string{"__complete"}, tc.args...)...)
		lines := strings.Split(got.out, "\n")
		for _, want := range tc.want {
			if !slices.Contains(lines, want) {
				t.Errorf("%q: no %q in\n%s", tc.args, want, got.out)
			}
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := run(t, "", "completion", shell); got.code != 0 || !strings.Contains(got.out, "kubectl-llamastack") {
			t.Errorf("completion %s: exit code %d", shell, got.code)
		}
	}
}
