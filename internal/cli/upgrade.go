package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
)

type upgradeOptions struct {
	sources
	to     string
	from   string
	output string
}

func newUpgradeCheckCommand(streams Streams) *cobra.Command {
	options := upgradeOptions{}
	command := &cobra.Command{
		Use:   "upgrade-check -f FILE --to RELEASE",
		Short: "Show what another server release would change, refuse or ignore",
		Long: `Generate the configuration of each LlamaStackDistribution for the release it
asks for and for another one, and show what differs: the image, the environment,
providers and keys of the configuration. What the other release refuses is named
with the field and the remedy, and so is what it would ignore, and which data that
clients stored it would leave behind. The exit code is 1 when a stack would not
boot.`,
		Example: `  kubectl llamastack upgrade-check -f stack.yaml --to 0.8

  # for a pipeline
  kubectl get llsd my-stack -o yaml | kubectl llamastack upgrade-check -f - --to 0.8 -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runUpgradeCheck(command.InOrStdin(), streams, options)
		},
	}
	options.addFlags(command)
	options.addSelector(command)
	command.Flags().StringVar(&options.to, "to", "", "the server release to look at, for example 0.8 or 0.7.3")
	command.Flags().StringVar(&options.from, "from", "", "the release to compare with; the one that the stack asks for unless given")
	command.Flags().StringVarP(&options.output, "output", "o", formTable, "table, json or yaml")
	must(command.MarkFlagRequired("to"))
	completeReleases(command, "to")
	completeReleases(command, "from")
	return command
}

// upgrade describes the effect of another release on one stack.
type upgrade struct {
	Stack string `json:"stack"`
	File  string `json:"file"`
	From  string `json:"from,omitempty"`
	To    string `json:"to"`
	Boots bool   `json:"boots"`
	// Refused lists errors. Ignored lists warnings that the current release does not give.
	Refused []string `json:"refused,omitempty"`
	Ignored []string `json:"ignored,omitempty"`
	// Left lists the data that stays behind.
	Left    []string          `json:"leftBehind,omitempty"`
	Changes []plan.Difference `json:"changes,omitempty"`
}

func runUpgradeCheck(stdin io.Reader, streams Streams, options upgradeOptions) error {
	if err := checkForm(options.output); err != nil {
		return err
	}
	found, err := options.read(stdin, newPrinter(streams))
	if err != nil {
		return err
	}
	upgrades := make([]upgrade, 0, len(found.stacks))
	wrong := 0
	for _, s := range found.stacks {
		u := found.upgrade(s, options)
		upgrades = append(upgrades, u)
		if !u.Boots {
			wrong++
		}
	}
	var page bytes.Buffer
	if options.output != formTable {
		err = writeData(&page, options.output, upgrades)
	} else {
		writeUpgrades(&page, upgrades)
	}
	if err == nil {
		_, err = page.WriteTo(streams.Out)
	}
	if err == nil && wrong > 0 {
		err = &rejection{summary: fmt.Sprintf("%d of %d would not boot on release %s", wrong, len(upgrades), options.to)}
	}
	return err
}

// upgrade runs the pipeline for both releases.
func (m *manifests) upgrade(s stack, options upgradeOptions) upgrade {
	u := upgrade{Stack: s.object.Name, File: s.file, To: options.to}
	if !s.decoded {
		u.Refused = s.errs
		return u
	}
	today, next := s, s
	var err error
	if options.from != "" {
		today.object, err = withRelease(s.object, options.from)
	}
	if err == nil {
		next.object, err = withRelease(s.object, options.to)
	}
	if err != nil {
		u.Refused = []string{err.Error()}
		return u
	}
	before := m.offline(today)
	var places *retention.Places
	if before.plan != nil {
		places = before.plan.Places
	}
	after := m.offlineSince(next, places)
	u.Refused, u.Left, u.Boots = after.errs, after.lost, len(after.errs) == 0
	for _, warning := range after.warnings {
		if !slices.Contains(before.warnings, warning) {
			u.Ignored = append(u.Ignored, warning)
		}
	}
	if before.plan != nil {
		u.From = before.plan.Release()
	}
	if before.plan != nil && after.plan != nil {
		u.Changes = plan.Compare(before.plan, after.plan)
	}
	return u
}

func writeUpgrades(page *bytes.Buffer, upgrades []upgrade) {
	for i, u := range upgrades {
		if i > 0 {
			page.WriteByte('\n')
		}
		u.write(page)
	}
}

func (u upgrade) write(page *bytes.Buffer) {
	verdict := "boots"
	if !u.Boots {
		verdict = "would not boot"
	}
	fmt.Fprintf(page, "%s: %s to %s: %s\n", u.Stack, dash(u.From), u.To, verdict)
	rows := [][]string{}
	for _, found := range []struct {
		kind     string
		messages []string
	}{{"refused", u.Refused}, {"warning", u.Ignored}, {"data", u.Left}} {
		for _, message := range found.messages {
			rows = append(rows, []string{found.kind, message})
		}
	}
	writeTable(page, rows)
	if len(u.Changes) == 0 {
		return
	}
	rows = [][]string{{"CHANGES", "FROM", "TO"}}
	for _, change := range u.Changes {
		rows = append(rows, []string{change.What, dash(shortened(change.From)), dash(shortened(change.To))})
	}
	writeTable(page, rows)
}
