package shapes

// Form is one shape of a field.
type Form struct {
	// Type is the JSON type. Example is an example of a value. Meaning describes the value in a sentence.
	Type, Example, Meaning string
}

var forms = map[string][]Form{
	Providers: {
		{"object", "{provider: vllm, endpoint: http://vllm:8000}", "One provider."},
		{
			"array of objects", "[{id: a, provider: vllm}, {id: b, provider: openai}]",
			"A list of up to 64 providers. If there is more than one, each needs an ID.",
		},
	},
	ModelEntry: {
		{"string", "llama3.2-8b", "The name of the model. The first inference provider serves it."},
		{"object", "{name: llama3.2-70b, provider: vllm, contextLength: 128000}", "A model with a name and other fields."},
	},
	ToolEntry: {
		{"string", "websearch", "The name of the tool group."},
		{"object", "{name: tickets, mcpEndpoint: http://tickets-mcp:8080/mcp}", "A tool group with a name and other fields."},
	},
	ShieldEntry: {
		{"string", "llama-guard", "The name of the shield. The first safety provider runs it."},
		{"object", "{name: guard, provider: llama-guard, model: llama-guard3-8b}", "A shield with a name and other fields."},
	},
	Expose: {
		{"boolean", "true", "true exposes the server with the default host name. false does not expose it."},
		{"object", "{hostname: llama.example.com}", "The server is exposed unless enabled is false. {} means true."},
	},
}

// Forms returns the shapes of a type.
func Forms(name string) []Form { return forms[name] }
