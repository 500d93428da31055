package release

// Registry says how the server keeps what is registered in its key-value store. It is empty for a line whose server keeps
// it in another way (0.2).
type Registry struct {
	// KeyPrefix is what the key of each entry begins with; the type of the entry, a colon and its id follow.
	KeyPrefix string `json:"key_prefix"`
	// ExpirationType is the type of the column `expiration` of a table in PostgreSQL.
	ExpirationType string `json:"expiration_type"`
	// Published are the entries that the server registers at each start although no configuration declares them.
	Published []Published `json:"published"`
	// Carried are, by API, the beginnings of the keys that its providers read in a sqlite file under their namespace, and
	// that earlier lines wrote without it. It is empty for lines without Runtime.RegistryKeepsNamespace.
	Carried map[string][]string `json:"carried"`
}

// Published are entries of one type that come from providers.
type Published struct {
	// Type is the type of the entries in the registry: `model`.
	Type string `json:"type"`
	// API is the API of the providers, when the server keeps entries of a provider that is gone and it matters which are:
	// only those of absent providers may be taken out. Empty when the server writes all entries anew at each start.
	API string `json:"api"`
	// Source is the `source` of such an entry, by which it differs from one that a client registered.
	Source string `json:"source"`
	// IDs are the ids of such entries, when they are always the same; empty for any id.
	IDs []string `json:"ids"`
}

// Default returns the default of a backend's key, such as `table_name`: an empty string without one.
func (b *Backend) Default(key string) string {
	known, ok := b.Class.Key(key)
	if !ok {
		return ""
	}
	text, _ := known.Default.(string)
	return text
}
