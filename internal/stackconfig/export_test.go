package stackconfig

// StepNames are the steps in order; the golden cases have a folder for each.
func StepNames() []string {
	names := make([]string, len(steps))
	for i := range steps {
		names[i] = steps[i].name
	}
	return names
}
