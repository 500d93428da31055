package ogxserver

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

type providers struct {
	Inference *struct {
		Remote *struct {
			VLLM []struct {
				inferenceProvider `json:",inline"`
				Endpoint          string        `json:"endpoint"`
				APIToken          *keyReference `json:"apiToken,omitempty"`
				MaxTokens         *int          `json:"maxTokens,omitempty"`
			} `json:"vllm,omitempty"`
			OpenAI []struct {
				inferenceProvider `json:",inline"`
				Endpoint          string       `json:"endpoint,omitempty"`
				APIKey            keyReference `json:"apiKey"`
			} `json:"openai,omitempty"`
			Azure []struct {
				inferenceProvider `json:",inline"`
				Endpoint          string       `json:"endpoint"`
				APIKey            keyReference `json:"apiKey"`
				APIVersion        string       `json:"apiVersion,omitempty"`
				APIType           string       `json:"apiType,omitempty"`
			} `json:"azure,omitempty"`
			Bedrock  []bedrock `json:"bedrock,omitempty"`
			VertexAI []struct {
				inferenceProvider `json:",inline"`
				Project           string `json:"project"`
				Location          string `json:"location,omitempty"`
			} `json:"vertexai,omitempty"`
			Watsonx []struct {
				inferenceProvider `json:",inline"`
				Endpoint          string       `json:"endpoint,omitempty"`
				APIKey            keyReference `json:"apiKey"`
				ProjectID         string       `json:"projectId,omitempty"`
				Timeout           *int         `json:"timeout,omitempty"`
			} `json:"watsonx,omitempty"`
			Custom []custom `json:"custom,omitempty"`
		} `json:"remote,omitempty"`
		Inline *customOnly `json:"inline,omitempty"`
	} `json:"inference,omitempty"`
	VectorIo    *vectorProviders `json:"vectorIo,omitempty"`
	ToolRuntime *struct {
		Remote *struct {
			BraveSearch          []search `json:"braveSearch,omitempty"`
			TavilySearch         []search `json:"tavilySearch,omitempty"`
			ModelContextProtocol []withID `json:"modelContextProtocol,omitempty"`
			Custom               []custom `json:"custom,omitempty"`
		} `json:"remote,omitempty"`
		Inline *struct {
			FileSearch []struct {
				withID       `json:",inline"`
				VectorStores *vectorStores `json:"vectorStoresConfig,omitempty"`
			} `json:"fileSearch,omitempty"`
			Custom []custom `json:"custom,omitempty"`
		} `json:"inline,omitempty"`
	} `json:"toolRuntime,omitempty"`
	Files   *filesProviders `json:"files,omitempty"`
	Batches *struct {
		Remote *customOnly `json:"remote,omitempty"`
		Inline *struct {
			Reference *struct {
				MaxConcurrentBatches          *int `json:"maxConcurrentBatches,omitempty"`
				MaxConcurrentRequestsPerBatch *int `json:"maxConcurrentRequestsPerBatch,omitempty"`
			} `json:"reference,omitempty"`
			Custom []custom `json:"custom,omitempty"`
		} `json:"inline,omitempty"`
	} `json:"batches,omitempty"`
	Responses *struct {
		Remote *customOnly `json:"remote,omitempty"`
		Inline *struct {
			Builtin *struct {
				VectorStores *vectorStores `json:"vectorStoresConfig,omitempty"`
				Compaction   *compaction   `json:"compactionConfig,omitempty"`
			} `json:"builtin,omitempty"`
			Custom []custom `json:"custom,omitempty"`
		} `json:"inline,omitempty"`
	} `json:"responses,omitempty"`
	FileProcessors *fileProcessors `json:"fileProcessors,omitempty"`
}

type withID struct {
	ID string `json:"id,omitempty"`
}

type customOnly struct {
	Custom []custom `json:"custom,omitempty"`
}

type custom struct {
	withID     `json:",inline"`
	Type       string                  `json:"type"`
	SecretRefs map[string]keyReference `json:"secretRefs,omitempty"`
	Settings   *apiextensionsv1.JSON   `json:"settings,omitempty"`
}

// inferenceProvider holds the fields of every remote inference provider.
type inferenceProvider struct {
	withID        `json:",inline"`
	AllowedModels []string `json:"allowedModels,omitempty"`
	RefreshModels *bool    `json:"refreshModels,omitempty"`
	Network       *struct {
		TLS *struct {
			Verify     *bool    `json:"verify,omitempty"`
			MinVersion string   `json:"minVersion,omitempty"`
			Ciphers    []string `json:"ciphers,omitempty"`
		} `json:"tls,omitempty"`
		Proxy *struct {
			URL     *string  `json:"url,omitempty"`
			HTTP    *string  `json:"http,omitempty"`
			HTTPS   *string  `json:"https,omitempty"`
			CACert  *string  `json:"cacert,omitempty"`
			NoProxy []string `json:"noProxy,omitempty"`
		} `json:"proxy,omitempty"`
		Timeout *struct {
			Connect *int `json:"connect,omitempty"`
			Read    *int `json:"read,omitempty"`
		} `json:"timeout,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	} `json:"network,omitempty"`
}

type bedrock struct {
	inferenceProvider `json:",inline"`
	Region            string        `json:"region"`
	APIKey            *keyReference `json:"apiKey,omitempty"`
	AccessKeyID       *keyReference `json:"awsAccessKeyId,omitempty"`
	SecretAccessKey   *keyReference `json:"awsSecretAccessKey,omitempty"`
	SessionToken      *keyReference `json:"awsSessionToken,omitempty"`
	RoleARN           string        `json:"awsRoleArn,omitempty"`
	TokenFile         string        `json:"awsWebIdentityTokenFile,omitempty"`
	RoleSessionName   string        `json:"awsRoleSessionName,omitempty"`
	ProfileName       string        `json:"profileName,omitempty"`
	TotalMaxAttempts  *int          `json:"totalMaxAttempts,omitempty"`
	RetryMode         string        `json:"retryMode,omitempty"`
	ConnectTimeout    *int          `json:"connectTimeout,omitempty"`
	ReadTimeout       *int          `json:"readTimeout,omitempty"`
	SessionTTL        *int          `json:"sessionTTL,omitempty"`
}

type search struct {
	withID     `json:",inline"`
	APIKey     keyReference `json:"apiKey"`
	MaxResults *int         `json:"maxResults,omitempty"`
}

type filesProviders struct {
	Remote *struct {
		S3 *struct {
			BucketName       string        `json:"bucketName"`
			Region           string        `json:"region,omitempty"`
			AccessKeyID      *keyReference `json:"awsAccessKeyId,omitempty"`
			SecretAccessKey  *keyReference `json:"awsSecretAccessKey,omitempty"`
			EndpointURL      string        `json:"endpointUrl,omitempty"`
			AutoCreateBucket *bool         `json:"autoCreateBucket,omitempty"`
		} `json:"s3,omitempty"`
		Custom []custom `json:"custom,omitempty"`
	} `json:"remote,omitempty"`
	Inline *struct {
		LocalFS *struct {
			TTLSeconds *int `json:"ttlSecs,omitempty"`
		} `json:"localfs,omitempty"`
		Custom []custom `json:"custom,omitempty"`
	} `json:"inline,omitempty"`
}

type chunks struct {
	ChunkSize    *int `json:"defaultChunkSizeTokens,omitempty"`
	ChunkOverlap *int `json:"defaultChunkOverlapTokens,omitempty"`
}

type textProcessor struct {
	chunks          `json:",inline"`
	ExtractMetadata *bool `json:"extractMetadata,omitempty"`
	CleanText       *bool `json:"cleanText,omitempty"`
}

type fileProcessors struct {
	Remote *struct {
		DoclingServe *struct {
			BaseURL   string        `json:"baseUrl"`
			APIKey    *keyReference `json:"apiKey,omitempty"`
			ChunkSize *int          `json:"defaultChunkSizeTokens,omitempty"`
		} `json:"doclingServe,omitempty"`
		Custom []custom `json:"custom,omitempty"`
	} `json:"remote,omitempty"`
	Inline *struct {
		Auto       *textProcessor `json:"auto,omitempty"`
		PyPDF      *textProcessor `json:"pypdf,omitempty"`
		MarkItDown *chunks        `json:"markitdown,omitempty"`
		Docling    *struct {
			chunks `json:",inline"`
			OCR    *bool `json:"doOcr,omitempty"`
		} `json:"docling,omitempty"`
		Custom []custom `json:"custom,omitempty"`
	} `json:"inline,omitempty"`
}
