# The first image builds, the second runs. It needs only the libraries of Node.js: libc, libstdc++ and libgcc.
ARG BUILD_IMAGE=docker.io/library/node:20-bookworm-slim
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12

FROM ${BUILD_IMAGE} AS build
WORKDIR /project
COPY .npmrc package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN node scripts/buildRelease.mjs /app && cp "$(node -p process.execPath)" /node

FROM ${BASE_IMAGE}
COPY --from=build /node /usr/local/bin/node
COPY --from=build /app /app
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 METRICS_PORT=9464
# A number, so that Kubernetes can check that it is not root.
USER 65532:65532
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["/usr/local/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without a shell in between, so that signals reach Node.js.
ENTRYPOINT ["/usr/local/bin/node"]
CMD ["--min-semi-space-size=32", "--max-semi-space-size=32", "--initial-old-space-size=256", "dist/main.js", "api"]
