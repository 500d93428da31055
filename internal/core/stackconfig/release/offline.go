package release

// Offline describes the variables and files that a server without internet access needs (server fact 67).
type Offline struct {
	// Variables are environment variables that prevent libraries from connecting to the internet, sorted by name.
	Variables []OfflineVariable `json:"variables"`
	// Tokenizer is the tiktoken tokenizer that the vector stores load when they start: `cl100k_base`. The server does not
	// start without it. Empty means that the server's own package contains everything that the vector stores need.
	Tokenizer string `json:"tokenizer,omitempty"`
}

// OfflineVariable is an environment variable with its value.
type OfflineVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
