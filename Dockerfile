# The service as an image: hosted with DATABASE_URL, or local with a SQLite file on a volume at /data.
# Holds no secret, no compiler and no development dependency; runs as a user without a name and needs no place to write
# but /data. Pin the base by digest with --build-arg NODE_IMAGE=node:24-slim@sha256:….
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: ours would build what is not copied yet, and what we depend on brings its binaries along.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && chmod +x dist/cli/main.js
RUN npm prune --omit=dev --ignore-scripts

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="mwp-authority" \
      org.opencontainers.image.description="A multi-tenant Group Authority for MissionWeaveProtocol 0.1" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY drizzle ./drizzle
# A new volume takes owner and mode of this folder. The link is for `docker exec … mwp org create`.
RUN mkdir -m 700 /data && chown 10001:10001 /data && ln -s /app/dist/cli/main.js /usr/local/bin/mwp
ENV NODE_ENV=production \
    MWP_HOST=0.0.0.0 \
    MWP_PORT=8080 \
    MWP_DATA_DIR=/data
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
# Readiness, not life: an orchestrator that restarts what is unhealthy should ask /healthz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.MWP_PORT + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli/main.js"]
CMD ["serve"]
