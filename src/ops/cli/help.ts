import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { UsageError } from './errors.ts';

/** Environment variables with one line of help each. The help of a command shows those it reads; docs/reference/settings.md, all. */
export const variables = {
  DATABASE_URL: 'PostgreSQL to use; default: an embedded one in --dir',
  LANEFOLD_DIRECT_URL: 'direct connection, without a pooler, for migrations and the queue (default DATABASE_URL)',
  LANEFOLD_READ_URL: 'follower of the database, for lists and statistics; same user as DATABASE_URL (default none)',
  LANEFOLD_PREPARED_STATEMENTS: 'set to off behind PgBouncer < 1.21 (default on)',
  LANEFOLD_ROLE_CHECK: 'refuse, warn or off: what to do about a database role with too many rights',
  LANEFOLD_PRIVATE_WEBHOOKS: 'on: webhooks may have http URLs and private addresses (default off)',
  REDIS_URL: 'Redis for the queue; default: the queue is in PostgreSQL',
  LANEFOLD_QUEUE_SHARDS: 'number of queues; must be the same in every process (default 1)',
  LANEFOLD_MAX_CONTEXT_BYTES: 'largest context of a lane; must be the same in every process (default 33554432)',
  LANEFOLD_LARGE_CONTENT_BYTES: 'keep longer texts out of the log; must be the same in every process (default none)',
  LANEFOLD_AGENTS: 'module that default-exports agents, or defineLanefold({ agents, models, … })',
  LANEFOLD_PAGE: 'off: do not serve the page at / (default on)',
  LANEFOLD_HOST: 'address of the API (default 127.0.0.1); any other than loopback requires a key',
  LANEFOLD_PORT: 'port of the API (default 4100)',
  LANEFOLD_WORK_SECRET: 'comma-separated secrets (whsec_…) that sign requests to POST /v1/work',
  LANEFOLD_API_KEY: 'API key: Bearer token for /v1 and /mcp, password for /docs and /admin',
  LANEFOLD_TOKEN_SECRET: 'comma-separated secrets for checkpoint tokens; the first signs. Required to create tokens',
  LANEFOLD_STOP_GRACE_MS: 'how long a stopping worker waits for its runs (default 25000)',
  LANEFOLD_HEALTH_PORT: 'port of /livez, /readyz and /metrics; not served by default',
  LANEFOLD_TRACE_RETENTION_DAYS: 'days to keep the trace of a run after its end; 0: forever (default 30)',
  LANEFOLD_DIR: 'folder of the embedded PostgreSQL (default .lanefold)',
  LANEFOLD_POSTGRES_BIN: 'folder of postgres and initdb for the embedded PostgreSQL (default an npm package)',
  XDG_CACHE_HOME: 'folder for copies of binaries that the user of the embedded PostgreSQL cannot read in place',
  'OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY': 'API keys of model providers',
  'OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GENERATIVE_AI_BASE_URL':
    'other servers with the API of a provider (default the servers of the provider)',
  LANEFOLD_LOG: 'json: log JSON lines on stderr (default text)',
  LANEFOLD_LOG_LEVEL: 'debug, info, warn, error or silent (default error, or info with LANEFOLD_LOG=json)',
  LANEFOLD_OTEL: 'on: trace with OpenTelemetry; load its SDK with NODE_OPTIONS (default off)',
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true: traces have the content of conversations, redacted',
  LANEFOLD_DEBUG: '1: print the stack of an internal error',
  NO_COLOR: 'disables colours',
  FORCE_COLOR: 'enables colours even if the output is not a terminal',
} as const;

export type Variable = keyof typeof variables;

const list = (names: readonly Variable[]): string => {
  const width = Math.max(0, ...names.map(({ length }) => length).filter((length) => length <= longestName));
  // a longer name stands on a line of its own
  const after = (name: string) => (name.length > width ? `${name}\n  ${' '.repeat(width)}` : name.padEnd(width));
  return names.map((name) => `  ${after(name)}  ${variables[name]}`).join('\n');
};

const longestName = 30;

/** The end of a command's help. Examples come first, because people read those. */
export const commandHelp = (examples: string[], environment: Variable[]): string => `
Examples:
${examples.map((example) => `  $ ${example}`).join('\n')}

${environment.length > 0 ? `Environment:\n${list(environment)}\n\n` : ''}Exit codes: 0 success, 1 failure, 2 invalid usage.`;

/** The end of the help of `lanefold` itself. */
export const environmentHelp = `
Start here:
  $ lanefold init my-agents                   a small project that runs
  $ lanefold demo                             one run from enqueue to SQL, offline
  $ lanefold dev --agents agents.ts           PostgreSQL, API and worker in one process
  $ lanefold run "What is 6 * 7?"             one question, answered offline on an embedded PostgreSQL
  $ lanefold worker --agents agents.ts        execute the runs of your agents
  $ lanefold tail THREAD                      follow a thread live, with answers as they are generated
  $ lanefold context THREAD --at 12           what the model saw after entry 12

Environment, also read from .env in the current folder:
${list(Object.keys(variables) as Variable[])}

Exit codes:
  0  success
  1  failure: a failed run, mismatches, or an error
  2  invalid usage

Commands print results on stdout and progress on stderr; --json makes stdout one JSON document (worker, tail: one per line).`;

/**
 * Sets the variables of the file `.env` in the current folder, except those that are already set. Our own variables
 * count as unset if they are empty, because compose files and scripts turn an unset variable into an empty one.
 *
 * @throws UsageError if the file cannot be read
 */
export function prepareEnvironment(env: NodeJS.ProcessEnv): void {
  unsetEmpty(env);
  for (const [name, value] of Object.entries(readEnvFile())) {
    if (env[name] !== undefined) continue;
    env[name] = value;
    fromFile.add(name);
  }
  unsetEmpty(env);
}

const fromFile = new Set<string>();

/** The environment for a child process, which reads `.env` itself. */
export const givenEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !fromFile.has(name)));

function readEnvFile(): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') return {};
    throw new UsageError(`Cannot read the file .env: ${message}`, 'Make it readable, or remove it.');
  }
}

function unsetEmpty(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env))
    if (value === '' && /^(LANEFOLD_\w+|DATABASE_URL|REDIS_URL)$/.test(name)) delete env[name];
}
