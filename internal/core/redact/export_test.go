package redact

// Config returns the part of a configuration that is shown.
func (k *Known) Config(text string) string { return k.file(configRoot, text) }
