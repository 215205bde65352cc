# One image for every service: the entry point is the command line, and worker containers start dist/workers/worker.js
# instead. Debian rather than Alpine, because BullMQ's native modules are built for glibc.
FROM node:22-bookworm-slim AS build
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

FROM node:22-bookworm-slim
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
