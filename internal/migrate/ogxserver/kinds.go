package ogxserver

// kind is a kind of provider for which an OGXServer has a field. All fields of the provider that this struct does not
// mention, except the ID, become settings with their names in snake case.
type kind struct {
	// Type is the server's name for the provider's type.
	Type string
	// ID is the provider's ID if the OGXServer does not set one.
	ID string
	// Endpoint and Credential are the fields that become endpoint and apiKey.
	Endpoint, Credential string
	// Secrets lists other fields that name a key of a Secret.
	Secrets []string
	// Renamed maps fields to settings whose key is not the field's name in snake case.
	Renamed map[string]string
}

// kinds lists the kinds by their place below spec.providers. They are in the order in which the ogx-k8s-operator writes
// the providers of an API, because the first provider of an API may be its default.
var kinds = map[string][]place{
	"inference": {
		{"remote", "vllm", kind{Type: "remote::vllm", ID: "remote-vllm", Endpoint: "endpoint", Credential: "apiToken"}},
		{"remote", "openai", kind{Type: "remote::openai", ID: "remote-openai", Endpoint: "endpoint", Credential: "apiKey"}},
		{"remote", "azure", kind{Type: "remote::azure", ID: "remote-azure", Endpoint: "endpoint", Credential: "apiKey"}},
		{"remote", "bedrock", kind{
			Type: "remote::bedrock", ID: "remote-bedrock", Credential: "apiKey",
			Secrets: []string{"awsAccessKeyId", "awsSecretAccessKey", "awsSessionToken"},
			Renamed: map[string]string{"region": "region_name", "sessionTTL": "session_ttl"},
		}},
		{"remote", "vertexai", kind{Type: "remote::vertexai", ID: "remote-vertexai"}},
		{"remote", "watsonx", kind{
			Type: "remote::watsonx", ID: "remote-watsonx", Endpoint: "endpoint", Credential: "apiKey",
		}},
	},
	"vectorIo": {
		{"remote", "pgvector", kind{
			Type: "remote::pgvector", ID: "remote-pgvector", Endpoint: "host", Credential: "password",
		}},
		{"remote", "milvus", kind{Type: "remote::milvus", ID: "remote-milvus", Endpoint: "uri", Credential: "token"}},
		{"remote", "qdrant", kind{Type: "remote::qdrant", ID: "remote-qdrant", Endpoint: "url", Credential: "apiKey"}},
	},
	"toolRuntime": {
		{"remote", "braveSearch", kind{Type: "remote::brave-search", ID: "remote-brave-search", Credential: "apiKey"}},
		{"remote", "tavilySearch", kind{Type: "remote::tavily-search", ID: "remote-tavily-search", Credential: "apiKey"}},
		{"remote", "modelContextProtocol", kind{Type: "remote::model-context-protocol", ID: "remote-model-context-protocol"}},
		// The ogx-k8s-operator writes inline::rag-runtime, a type that does not exist in any release.
		{"inline", "fileSearch", kind{Type: "inline::file-search", ID: "inline-file-search"}},
	},
	"files": {
		{"remote", "s3", kind{
			Type: "remote::s3", ID: "remote-s3", Endpoint: "endpointUrl",
			Secrets: []string{"awsAccessKeyId", "awsSecretAccessKey"},
		}},
		{"inline", "localfs", kind{Type: "inline::localfs", ID: "inline-localfs"}},
	},
	"batches": {
		// The ogx-k8s-operator writes inline::batch-reference, a type that does not exist in any release.
		{"inline", "reference", kind{Type: "inline::reference", ID: "inline-reference"}},
	},
	"responses": {
		// The ogx-k8s-operator writes inline::responses, a type that does not exist in any release.
		{"inline", "builtin", kind{Type: "inline::builtin", ID: "inline-builtin"}},
	},
	"fileProcessors": {
		{"remote", "doclingServe", kind{
			Type: "remote::docling-serve", ID: "remote-docling-serve", Endpoint: "baseUrl",
			Credential: "apiKey",
		}},
		{"inline", "auto", kind{Type: "inline::auto", ID: "inline-auto"}},
		{"inline", "pypdf", kind{Type: "inline::pypdf", ID: "inline-pypdf"}},
		{"inline", "markitdown", kind{Type: "inline::markitdown", ID: "inline-markitdown"}},
		{"inline", "docling", kind{Type: "inline::docling", ID: "inline-docling"}},
	},
}

// place is a field below an API, for example remote.vllm.
type place struct {
	where, field string
	kind
}

// apis lists the fields of spec.providers, each with the server's name for it, in the order of the OGXServer API.
var apis = []struct{ field, server string }{
	{"inference", "inference"},
	{"vectorIo", "vector_io"},
	{"toolRuntime", "tool_runtime"},
	{"files", "files"},
	{"batches", "batches"},
	{"responses", "responses"},
	{"fileProcessors", "file_processors"},
}
