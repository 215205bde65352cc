# One image for every service: the entry point is the command line, and worker containers start dist/workers/worker.js
# instead. Debian rather than Alpine, because BullMQ's native modules are built for glibc.
#
# The digest is that of the index of all platforms. To renew it:
#   docker buildx imagetools inspect node:22-bookworm-slim --format '{{.Manifest.Digest}}'
FROM node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS base

FROM base AS build
WORKDIR /app
COPY package.json package-lock.json ./
# without the embedded PostgreSQL, which would be most of the image and is never used in it
RUN npm ci --omit=optional --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY db ./db
COPY page ./page
COPY workers ./workers
RUN npm run build && npm prune --omit=dev --omit=optional --no-audit --no-fund

FROM base
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/db/migrations ./db/migrations
COPY --from=build /app/db/sql ./db/sql
COPY --from=build /app/src/cli/bin.js ./src/cli/bin.js
COPY --from=build /app/src/contracts/validator-thread.js ./src/contracts/validator-thread.js
USER node
EXPOSE 4100
ENTRYPOINT ["node", "src/cli/bin.js"]
CMD ["api"]
