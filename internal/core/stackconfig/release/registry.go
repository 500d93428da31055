package release

// Registry describes how the server stores registered resources in its key-value store. It is empty for 0.2, whose
// server stores them in another way (server fact 22).
type Registry struct {
	// KeyPrefix is the prefix of each entry's key. The key continues with the entry's type, a colon and the entry's ID.
	KeyPrefix string `json:"key_prefix"`
	// ExpirationType is the type of the column `expiration` of a table in PostgreSQL.
	ExpirationType string `json:"expiration_type"`
	// Published are the entries that the server registers at each start, although the configuration does not declare them.
	Published []Published `json:"published"`
	// Carried lists prefixes of keys in SQLite files, keyed by API. Earlier lines wrote these keys without the namespace,
	// but the API's providers read them with the namespace as the first part. Carried is empty for lines without
	// Runtime.RegistryKeepsNamespace.
	Carried map[string][]string `json:"carried"`
}

// Published are entries of one type that come from providers (server fact 23).
type Published struct {
	// Type is the type, for example `model`, of the entries in the registry.
	Type string `json:"type"`
	// API is the API of the providers. It is set if the server keeps the entries of removed providers. In this case, the
	// script that runs before the server starts can remove only the entries of absent providers. Empty means that the
	// server writes all entries again at each start.
	API string `json:"api"`
	// Source is the `source` of such an entry. An entry that a client registered has a different source.
	Source string `json:"source"`
	// IDs are the IDs of such entries, when they are always the same. Empty means any ID.
	IDs []string `json:"ids"`
}

// Default returns the default of a backend's key, such as `table_name`, or an empty string if the key has no default
// that is a string.
func (b *Backend) Default(key string) string {
	known, ok := b.Class.Key(key)
	if !ok {
		return ""
	}
	text, _ := known.Default.(string)
	return text
}
