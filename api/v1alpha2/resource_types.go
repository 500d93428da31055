package v1alpha2

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ResourcesSpec registers resources when the server starts (FR-006). They are added to the resources of the base
// configuration. A resource replaces the resource that has the same kind and ID in the base configuration.
type ResourcesSpec struct {
	// models lists models, each as a name or as an object {name, provider, contextLength, modelType, quantization,
	// providerModelId, metadata}, for example [llama3.2-8b, {name: llama3.2-70b, provider: vllm}]. A model without a
	// provider is assigned to the first inference provider (FR-040).
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Models []ModelEntry `json:"models,omitempty"`

	// tools lists tool groups, each as a name or as an object {name, provider, mcpEndpoint, args}, for example [websearch,
	// {name: tickets, mcpEndpoint: http://tickets-mcp:8080/mcp}]. websearch and rag are the built-in groups.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Tools []ToolEntry `json:"tools,omitempty"`

	// shields lists shields, each as a name or as an object {name, provider, model, params}, for example [llama-guard,
	// {name: guard, model: vllm/llama-guard3-8b}]. A shield without a provider is assigned to the first safety provider
	// (FR-044).
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Shields []ShieldEntry `json:"shields,omitempty"`
}

// ModelEntry is the name of a model (llama3.2-8b) or a Model ({name: llama3.2-70b, provider: vllm, contextLength:
// 128000}), stored as the JSON that the user wrote (FR-007).
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type ModelEntry struct {
	// Raw is the JSON: a string or an object.
	Raw []byte `json:"-"`
}

// ToolEntry is the name of a tool group (websearch) or a Tool ({name: mine, mcpEndpoint: http://mcp:3000/sse}), stored
// as the JSON that the user wrote.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type ToolEntry struct {
	// Raw is the JSON: a string or an object.
	Raw []byte `json:"-"`
}

// ShieldEntry is the name of a shield (llama-guard) or a Shield ({name: guard, provider: llama-guard, model:
// llama-guard3-8b}), stored as the JSON that the user wrote.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type ShieldEntry struct {
	// Raw is the JSON: a string or an object.
	Raw []byte `json:"-"`
}

// Model is the object form of a model (FR-041, FR-042).
type Model struct {
	// name is the ID under which the model is registered. Required.
	// +required
	Name string `json:"name"`
	// provider is the ID of an inference provider. Defaults to the first inference provider.
	// +optional
	Provider string `json:"provider,omitempty"`
	// providerModelId is the name that the provider uses for the model. Defaults to name.
	// +optional
	ProviderModelID string `json:"providerModelId,omitempty"`
	// modelType is llm, embedding or rerank. Defaults to llm, which is the server's default.
	// +optional
	ModelType string `json:"modelType,omitempty"`
	// contextLength is the context window in tokens, greater than 0. It is written to the model's metadata.
	// +optional
	ContextLength *int64 `json:"contextLength,omitempty"`
	// quantization is the name of the quantization. It is written to the model's metadata.
	// +optional
	Quantization string `json:"quantization,omitempty"`
	// metadata is added to the model's metadata unchanged.
	// +optional
	Metadata *apiextensionsv1.JSON `json:"metadata,omitempty"`
}

// Tool is the object form of a tool group (FR-043).
type Tool struct {
	// name is the name of the tool group: websearch, rag, or a custom name. Required.
	// +required
	Name string `json:"name"`
	// provider is the ID of a toolRuntime provider. Defaults to the first provider that can run the tool group.
	// +optional
	Provider string `json:"provider,omitempty"`
	// mcpEndpoint is the URL of an MCP server.
	// +optional
	MCPEndpoint string `json:"mcpEndpoint,omitempty"`
	// args are passed to the tool group unchanged.
	// +optional
	Args *apiextensionsv1.JSON `json:"args,omitempty"`
}

// Shield is the object form of a shield (FR-044).
type Shield struct {
	// name is the ID under which the shield is registered. Required.
	// +required
	Name string `json:"name"`
	// provider is the ID of a safety provider. Defaults to the first safety provider.
	// +optional
	Provider string `json:"provider,omitempty"`
	// model is the ID that the provider uses for the shield. For llama-guard, it is the guard model. Defaults to name.
	// +optional
	Model string `json:"model,omitempty"`
	// params are passed to the shield unchanged.
	// +optional
	Params *apiextensionsv1.JSON `json:"params,omitempty"`
}
