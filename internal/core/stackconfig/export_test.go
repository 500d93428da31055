package stackconfig

// StepNames returns the names of the steps in order. The golden cases have a folder for each step.
func StepNames() []string {
	names := make([]string, len(steps))
	for i := range steps {
		names[i] = steps[i].name
	}
	return names
}
