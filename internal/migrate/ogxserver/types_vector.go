package ogxserver

type vectorProviders struct {
	Remote *struct {
		Pgvector []struct {
			withID         `json:",inline"`
			Host           string       `json:"host,omitempty"`
			Port           *int         `json:"port,omitempty"`
			DB             string       `json:"db,omitempty"`
			User           string       `json:"user,omitempty"`
			Password       keyReference `json:"password"`
			DistanceMetric string       `json:"distanceMetric,omitempty"`
			VectorIndex    *struct {
				HNSW *struct {
					M              *int `json:"m,omitempty"`
					EfConstruction *int `json:"efConstruction,omitempty"`
					EfSearch       *int `json:"efSearch,omitempty"`
				} `json:"hnsw,omitempty"`
				IVFFlat *struct {
					Lists  *int `json:"nlist,omitempty"`
					Probes *int `json:"nprobe,omitempty"`
				} `json:"ivfFlat,omitempty"`
			} `json:"vectorIndex,omitempty"`
		} `json:"pgvector,omitempty"`
		Milvus []struct {
			withID           `json:",inline"`
			URI              string        `json:"uri"`
			Token            *keyReference `json:"token,omitempty"`
			ConsistencyLevel string        `json:"consistencyLevel,omitempty"`
		} `json:"milvus,omitempty"`
		Qdrant []struct {
			withID     `json:",inline"`
			URL        string        `json:"url,omitempty"`
			Host       string        `json:"host,omitempty"`
			Port       *int          `json:"port,omitempty"`
			APIKey     *keyReference `json:"apiKey,omitempty"`
			Location   string        `json:"location,omitempty"`
			GRPCPort   *int          `json:"grpcPort,omitempty"`
			PreferGRPC *bool         `json:"preferGrpc,omitempty"`
			HTTPS      *bool         `json:"https,omitempty"`
			Prefix     string        `json:"prefix,omitempty"`
			Timeout    *int          `json:"timeout,omitempty"`
		} `json:"qdrant,omitempty"`
		Custom []custom `json:"custom,omitempty"`
	} `json:"remote,omitempty"`
	Inline *customOnly `json:"inline,omitempty"`
}

type qualifiedModel struct {
	ProviderID string `json:"providerId"`
	ModelID    string `json:"modelId"`
	Dimensions *int   `json:"embeddingDimensions,omitempty"`
}

type vectorStores struct {
	DefaultProviderID     string          `json:"defaultProviderId,omitempty"`
	DefaultEmbeddingModel *qualifiedModel `json:"defaultEmbeddingModel,omitempty"`
	DefaultRerankerModel  *struct {
		ProviderID string `json:"providerId"`
		ModelID    string `json:"modelId"`
	} `json:"defaultRerankerModel,omitempty"`
	RewriteQuery *struct {
		Model       *qualifiedModel `json:"model,omitempty"`
		Prompt      string          `json:"prompt,omitempty"`
		MaxTokens   *int            `json:"maxTokens,omitempty"`
		Temperature *string         `json:"temperature,omitempty"`
	} `json:"rewriteQueryParams,omitempty"`
	FileSearch *struct {
		Header string `json:"headerTemplate,omitempty"`
		Footer string `json:"footerTemplate,omitempty"`
	} `json:"fileSearchParams,omitempty"`
	ContextPrompt *struct {
		Annotation string `json:"chunkAnnotationTemplate,omitempty"`
		Context    string `json:"contextTemplate,omitempty"`
	} `json:"contextPromptParams,omitempty"`
	AnnotationPrompt *struct {
		Enable      *bool  `json:"enableAnnotations,omitempty"`
		Instruction string `json:"annotationInstructionTemplate,omitempty"`
		Annotation  string `json:"chunkAnnotationTemplate,omitempty"`
	} `json:"annotationPromptParams,omitempty"`
	FileIngestion  *chunks `json:"fileIngestionParams,omitempty"`
	ChunkRetrieval *struct {
		Multiplier       *int    `json:"chunkMultiplier,omitempty"`
		MaxTokens        *int    `json:"maxTokensInContext,omitempty"`
		RerankerStrategy *string `json:"defaultRerankerStrategy,omitempty"`
		RRFImpactFactor  *string `json:"rrfImpactFactor,omitempty"`
		WeightedAlpha    *string `json:"weightedSearchAlpha,omitempty"`
		SearchMode       *string `json:"defaultSearchMode,omitempty"`
	} `json:"chunkRetrievalParams,omitempty"`
	FileBatch *struct {
		MaxConcurrentFiles *int `json:"maxConcurrentFilesPerBatch,omitempty"`
		ChunkSize          *int `json:"fileBatchChunkSize,omitempty"`
		CleanupInterval    *int `json:"cleanupIntervalSeconds,omitempty"`
	} `json:"fileBatchParams,omitempty"`
	ContextualRetrieval *struct {
		Model             *qualifiedModel `json:"model,omitempty"`
		Timeout           *int            `json:"defaultTimeoutSeconds,omitempty"`
		MaxConcurrency    *int            `json:"defaultMaxConcurrency,omitempty"`
		MaxDocumentTokens *int            `json:"maxDocumentTokens,omitempty"`
	} `json:"contextualRetrievalParams,omitempty"`
}

type compaction struct {
	SummarizationPrompt string `json:"summarizationPrompt,omitempty"`
	SummaryPrefix       string `json:"summaryPrefix,omitempty"`
	SummarizationModel  string `json:"summarizationModel,omitempty"`
	CompactThreshold    *int   `json:"defaultCompactThreshold,omitempty"`
	TokenizerEncoding   string `json:"tokenizerEncoding,omitempty"`
}
