package operatorconfig

// Template is the content of a new ConfigMap: every key with nothing but its
// documentation.
func Template() map[string]string {
	data := map[string]string{}
	for _, s := range sections {
		data[s.key] = s.help
	}
	return data
}
