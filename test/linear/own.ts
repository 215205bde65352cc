/** Modules that go over text that is not a stranger's, or over so little of it that it takes no time: by the reason. */
export const own: Record<string, readonly string[]> = {
  'names, ids, statements and messages of the program': list(`
    doors/ag-ui/runs/follow.ts server/access/authorize-operation.ts server/bull-board/board.ts server/metrics.ts
    server/problem.ts doors/durable-streams/routes.ts ops/chaos/table.ts ops/chaos/schedule.ts ops/cli/main.ts
    doors/client/connection.ts base/redaction/sensitive-keys.ts base/log/logger.ts base/log/logger.ts
    database/nodes/guard.ts agent/policy/cut-groups.ts runs/limiter/refusals.ts
    database/store/nodes/search-each.ts database/store/schema/migrate.ts database/store/branch/read-versions.ts
    database/store/transaction/within-transaction.ts runs/streams/publish-deltas.ts
    base/operations/operation.ts ops/cli/operation-command.ts
  `),
  'what its operator wrote': list(`
    ops/bench/measure-costs.ts ops/chaos/workload/journal.ts base/checks/connection-url.ts
    ops/cli/commands/limits.ts ops/cli/project-files.ts agent/models/settings.ts
    database/postgres/embedded/launch.ts database/postgres/embedded/postmaster-lock.ts
    database/postgres/embedded/system-user.ts runs/queue/connection.ts database/store/scratch/scratch.ts
    agent/tools/agent-tool.ts agent/tools/handoff.ts
  `),
  'the name of a model or a host, an id, a header: each is short, or searched once for a character': list(`
    server/auth.ts agent/models/catalog.ts agent/models/file-tokens.ts
    agent/limits/dimensions.ts agent/models/registry.ts
    runs/limiter/limited-run.ts features/webhooks/worker/addresses.ts database/store/context/read-call.ts
    runs/telemetry/opentelemetry/chat-span.ts worker/run/open-run.ts
  `),
  'each pattern takes every character once, as literals.test.ts shows': list(`
    ops/cli/commands/context.ts ops/cli/output.ts ops/cli/show-run.ts doors/client/case.ts base/common/case.ts
    features/evals/report/markdown.ts agent/policy/compaction.ts runs/formats/portable/notes.ts
    features/webhooks/worker/send.ts database/store/evidence/read-log.ts agent/strategies/react.ts
    agent/tools/outcome.ts
  `),
};

function list(names: string): string[] {
  return names.trim().split(/\s+/);
}
