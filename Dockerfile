# The operator's image contains one static program on a base without a shell or
# a package manager. The builder cross-compiles it for each platform, without
# emulation:
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=v0.10.0 --tag <image> .
# A test in test/install compares this file with the manifest and the code.
FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26.8@sha256:6c2a5538f964f1c82f97ad14988bf05de100d922d159d0e398b54c7b0ca0c6c9 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api/ api/
COPY cmd/manager/ cmd/manager/
COPY internal/ internal/
ARG TARGETOS TARGETARCH VERSION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /manager ./cmd/manager

FROM gcr.io/distroless/static-debian13:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3
ARG VERSION REVISION
LABEL org.opencontainers.image.title="llama-stack-k8s-operator" \
      org.opencontainers.image.description="Kubernetes operator for Llama Stack servers" \
      org.opencontainers.image.source="https://github.com/llamastack/llama-stack-k8s-operator" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /manager /manager
# The user is a number, because the kubelet cannot check whether a name is root.
USER 65532:65532
ENTRYPOINT ["/manager"]
