/** Environment variables by name, one line each; commands show those they read. */
const variables = {
  DATABASE_URL: 'PostgreSQL; without it an embedded one in --dir is used',
  LANEFOLD_DIRECT_URL: 'PostgreSQL past a pooler, for migrations and the queue (default DATABASE_URL)',
  LANEFOLD_PREPARED_STATEMENTS: 'off behind a PgBouncer before 1.21 (default on)',
  REDIS_URL: 'keeps the queue in Redis; without it the queue is in PostgreSQL',
  LANEFOLD_QUEUE_SHARDS: 'queues runs are spread over; the same in every process (default 1)',
  LANEFOLD_AGENTS: 'module that default-exports an array of agents',
  LANEFOLD_HOST: 'address of the API (default 127.0.0.1); any other than loopback needs a key',
  LANEFOLD_PORT: 'port of the API (default 4100)',
  LANEFOLD_API_KEY: 'key of the API: Bearer for /v1, password for /docs and /admin',
  LANEFOLD_TOKEN_SECRET: 'signs checkpoint tokens; several by commas; without it there are none',
  LANEFOLD_STOP_GRACE_MS: 'how long a stopped worker lets runs end (default 25000)',
  LANEFOLD_TRACE_RETENTION_DAYS: 'days the trace of an ended run is kept, 0 for ever (default 30)',
  LANEFOLD_DIR: 'folder of the embedded PostgreSQL (default .lanefold)',
  'OPENAI_API_KEY, ANTHROPIC_API_KEY, …': 'keys of model providers, by their usual names',
  NO_COLOR: 'no colours, also on a terminal',
} as const;

export type Variable = keyof typeof variables;

const list = (names: readonly Variable[]): string => {
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `  ${name.padEnd(width)}  ${variables[name]}`).join('\n');
};

/** The end of a command's help: examples first, because they are what people read. */
export const commandHelp = (examples: string[], environment: Variable[]): string => `
Examples:
${examples.map((example) => `  $ ${example}`).join('\n')}

Environment:
${list(environment)}

Exit codes: 0 done, 1 the work failed, 2 wrong usage.`;

/** The end of the help of `lanefold` itself. */
export const environmentHelp = `
Start here:
  $ lanefold demo                             one run from enqueue to SQL, offline
  $ lanefold dev --agents agents.ts           PostgreSQL, API and worker in one process
  $ lanefold run "What is 6 * 7?"             one question, answered offline, on an embedded PostgreSQL
  $ lanefold worker --agents agents.ts        work off the runs of your own agents
  $ lanefold tail THREAD                      follow it live, answers as they are written
  $ lanefold context THREAD --at 12           what the model saw after entry 12

Environment:
${list(Object.keys(variables) as Variable[])}

Exit codes:
  0  done
  1  the work failed: a failed run, mismatches, or an error that stood in its way
  2  wrong usage

Commands print results on stdout and progress on stderr; --json makes stdout one JSON document (worker, tail: one a line).`;
