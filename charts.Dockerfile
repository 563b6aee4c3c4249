# The charts that the operator serves, for an image volume: config/chart-image. Built by make charts-build.
FROM scratch
COPY helm-charts /helm-charts
