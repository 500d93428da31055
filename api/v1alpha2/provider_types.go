package v1alpha2

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ProvidersSpec configures providers by API (FR-003). Every field takes one provider or a list of providers. In a list
// of more than one provider, each provider needs an ID (FR-034). IDs must be unique across all APIs (FR-072).
type ProvidersSpec struct {
	// inference is one provider, for example {provider: vllm}, or a list of providers, for example [{id: a, provider:
	// vllm}, {id: b, provider: openai}]. It serves models (the inference API).
	// +optional
	Inference *Providers `json:"inference,omitempty"`
	// safety is one provider, for example {provider: llama-guard}, or a list of providers, for example [{id: a, provider:
	// llama-guard}, {id: b, provider: bedrock}]. It runs shields (the safety API, up to release 0.8).
	// +optional
	Safety *Providers `json:"safety,omitempty"`
	// vectorIo is one provider, for example {provider: pgvector}, or a list of providers, for example [{id: a, provider:
	// pgvector}, {id: b, provider: faiss}]. It provides vector stores (the vector_io API).
	// +optional
	VectorIo *Providers `json:"vectorIo,omitempty"`
	// toolRuntime is one provider, for example {provider: model-context-protocol}, or a list of providers, for example
	// [{id: a, provider: model-context-protocol}, {id: b, provider: tavily-search}]. It runs tools (the tool_runtime API).
	// +optional
	ToolRuntime *Providers `json:"toolRuntime,omitempty"`
	// telemetry is one provider, for example {provider: meta-reference}, or a list of providers, for example [{id: a,
	// provider: meta-reference}, {id: b, provider: meta-reference}]. It serves the telemetry API of release 0.2. Newer
	// releases read OTEL_* variables. Set them in workload.overrides.env.
	// +optional
	Telemetry *Providers `json:"telemetry,omitempty"`
	// agents is one provider, for example {provider: meta-reference}, or a list of providers, for example [{id: a,
	// provider: meta-reference}, {id: b, provider: meta-reference}]. It serves the agents API, up to release 0.6.
	// +optional
	Agents *Providers `json:"agents,omitempty"`
	// responses is one provider, for example {provider: builtin}, or a list of providers, for example [{id: a, provider:
	// builtin}, {id: b, provider: builtin}]. It serves the responses API, from release 0.7 on.
	// +optional
	Responses *Providers `json:"responses,omitempty"`
	// files is one provider, for example {provider: localfs}, or a list of providers, for example [{id: a, provider:
	// localfs}, {id: b, provider: s3}]. It stores uploaded files (the files API).
	// +optional
	Files *Providers `json:"files,omitempty"`
	// batches is one provider, for example {provider: reference}, or a list of providers, for example [{id: a, provider:
	// reference}, {id: b, provider: reference}]. It serves batch requests (the batches API).
	// +optional
	Batches *Providers `json:"batches,omitempty"`
	// eval is one provider, for example {provider: meta-reference}, or a list of providers, for example [{id: a, provider:
	// meta-reference}, {id: b, provider: nvidia}]. It serves the eval API, up to release 0.7.
	// +optional
	Eval *Providers `json:"eval,omitempty"`
	// scoring is one provider, for example {provider: basic}, or a list of providers, for example [{id: a, provider:
	// basic}, {id: b, provider: braintrust}]. It serves the scoring API, up to release 0.7.
	// +optional
	Scoring *Providers `json:"scoring,omitempty"`
	// datasetIo is one provider, for example {provider: localfs}, or a list of providers, for example [{id: a, provider:
	// localfs}, {id: b, provider: huggingface}]. It serves the datasetio API, up to release 0.7.
	// +optional
	DatasetIo *Providers `json:"datasetIo,omitempty"`
	// postTraining is one provider, for example {provider: torchtune}, or a list of providers, for example [{id: a,
	// provider: torchtune}, {id: b, provider: nvidia}]. It serves the post_training API, up to release 0.6.
	// +optional
	PostTraining *Providers `json:"postTraining,omitempty"`
	// fileProcessors is one provider, for example {provider: pypdf}, or a list of providers, for example [{id: a,
	// provider: pypdf}, {id: b, provider: docling}]. It serves the file_processors API, from release 0.6 on.
	// +optional
	FileProcessors *Providers `json:"fileProcessors,omitempty"`
	// messages is one provider, for example {provider: builtin}, or a list of providers, for example [{id: a, provider:
	// builtin}, {id: b, provider: builtin}]. It serves the messages API, from release 0.8 on.
	// +optional
	Messages *Providers `json:"messages,omitempty"`
	// interactions is one provider, for example {provider: builtin}, or a list of providers, for example [{id: a,
	// provider: builtin}, {id: b, provider: builtin}]. It serves the interactions API, from release 0.8 on.
	// +optional
	Interactions *Providers `json:"interactions,omitempty"`
	// skills is one provider, for example {provider: builtin}, or a list of providers, for example [{id: a, provider:
	// builtin}, {id: b, provider: builtin}]. It serves the skills API, from release 1.1 on.
	// +optional
	Skills *Providers `json:"skills,omitempty"`
}

// Providers is one provider or a list of providers (FR-004), stored as the JSON that the user wrote. Package intent
// strictly decodes the JSON into Provider values, and reports each error with its field path.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type Providers struct {
	// Raw is the JSON: an object (one provider) or an array of objects.
	Raw []byte `json:"-"`
}

// Provider is the typed form of an entry in Providers (FR-005).
type Provider struct {
	// id is the provider's ID in the server. Defaults to the value of provider, or to the part of that value after "::"
	// (FR-035).
	// +optional
	ID string `json:"id,omitempty"`

	// provider is the provider's type: a short name (vllm) or the server's full type (remote::vllm, inline::faiss).
	// Required.
	// +required
	Provider string `json:"provider"`

	// endpoint is the URL of the service behind the provider.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// apiKey is the provider's credential.
	// +optional
	APIKey *SecretReference `json:"apiKey,omitempty"`

	// secretRefs sets configuration keys of the provider from Secrets.
	// +optional
	SecretRefs map[string]SecretReference `json:"secretRefs,omitempty"`

	// settings is merged unchanged into the provider's configuration (FR-033).
	// +optional
	Settings *apiextensionsv1.JSON `json:"settings,omitempty"`

	// Shorthand holds every other key: a configuration key of the provider with the value {secretKeyRef: …}, the short
	// form of secretRefs.
	Shorthand map[string]SecretReference `json:"-"`
}
