// The libraries that test a release, away from the other modules because they bring many modules.
module github.com/llamastack/llama-stack-k8s-operator/hack/tools/release

go 1.26.7

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/licensecheck v0.3.1
	github.com/in-toto/attestation v1.2.0
	github.com/spdx/tools-golang v0.5.7
	google.golang.org/protobuf v1.36.11
)

require github.com/anchore/go-struct-converter v0.1.0 // indirect
