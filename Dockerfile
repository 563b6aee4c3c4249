# The images that stages begin with. Renovate reads these lines and will put each digest, @sha256:…, behind the tag;
# make release-check lists those without one.
ARG GO_IMAGE=golang:1.26
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot
# What the stages are built as; each names it again to use it.
ARG VERSION=0.2.0

# The compiler runs on the machine's own platform and builds for the image's.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS builder
ARG TARGETOS
ARG TARGETARCH
ARG VERSION
WORKDIR /workspace

# The modules have a layer of their own: it is built again only when go.mod or go.sum changes.
COPY go.mod go.sum ./
RUN go mod download

COPY embed.go watches.yaml ./
COPY helm-charts/ helm-charts/
COPY api/ api/
COPY cmd/ cmd/
COPY internal/ internal/
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-linux} GOARCH=${TARGETARCH} go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/example/appservice-operator/internal/version.Version=${VERSION}" -o manager ./cmd/manager

# Charts and watches.yaml are inside the binary. tools/images makes the same image without a container engine.
FROM ${BASE_IMAGE}
ARG VERSION
LABEL org.opencontainers.image.title="appservice-operator" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /
COPY --from=builder /workspace/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
