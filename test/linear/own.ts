/** Modules that go over text that is not a stranger's, or over so little of it that it takes no time: by the reason. */
export const own: Record<string, readonly string[]> = {
  'names, ids, statements and messages of the program': list(`
    ag-ui/runs/follow.ts api/access/authorize-operation.ts api/bull-board/board.ts api/metrics.ts api/problem.ts
    api/routes/durable-streams.ts chaos/campaign-log.ts chaos/random.ts cli/command-groups.ts cli/main.ts
    client/connection.ts common/pattern.ts log/redacted.ts log/report-errors.ts nodes/target.ts
    policy/cut-groups.ts runtime/limits/waiting-for.ts store/nodes/search-each.ts store/schema/apply-sql.ts
    store/transaction/adapters.ts streams/publish-deltas.ts
  `),
  'what its operator wrote': list(`
    bench/cpu.ts chaos/workload/journal.ts checks/connection-url.ts cli/commands/limits.ts cli/own-spec.ts
    cli/project-files.ts models/settings/reserved.ts postgres/embedded/log-file.ts
    postgres/embedded/postmaster-lock.ts postgres/embedded/system-user.ts queue/connection.ts
    store/scratch/scratch.ts tools/agent-tool.ts tools/handoff.ts
  `),
  'the name of a model or a host, an id, a header: each is short, or searched once for a character': list(`
    api/auth.ts models/counting/context-windows.ts models/counting/image-tokens.ts models/counting/price.ts
    limits/dimensions.ts
    models/registry/registry.ts models/registry/unknown-model.ts runtime/limits/limited-run.ts
    runtime/webhooks/resolve.ts store/context/read-call.ts telemetry/opentelemetry/chat-span.ts
  `),
  'each pattern takes every character once, as literals.test.ts shows': list(`
    cli/commands/context.ts cli/output.ts cli/show-stream.ts client/case.ts common/case.ts
    evals/report/markdown.ts policy/summary.ts portable/notes.ts runtime/webhooks/read-answer.ts
    store/evidence/read-log.ts strategies/react/cycle-warning.ts tools/error-message.ts
  `),
};

function list(names: string): string[] {
  return names.trim().split(/\s+/);
}
