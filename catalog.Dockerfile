# The catalog that make catalog rendered, with the cache that lets opm start at once. Its base image is named as in Dockerfile.
ARG OPM_IMAGE=quay.io/operator-framework/opm:v1.65.0

FROM ${OPM_IMAGE} AS builder
COPY dist/catalog /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM ${OPM_IMAGE}
COPY --from=builder /configs /configs
COPY --from=builder /tmp/cache /tmp/cache
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
LABEL operators.operatorframework.io.index.configs.v1=/configs
