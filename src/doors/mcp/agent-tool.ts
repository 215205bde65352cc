import { type Tool, TRACEPARENT_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Id } from '../../server/declared/wire-schema.ts';
import type { AgentSummary } from '../../runs/operations/agents/types.ts';
import { LanefoldError } from '../../base/errors.ts';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { JsonObject } from '../../agent/context/message.ts';

const id = Id.meta({});

export const agentInput = z.strictObject({
  message: z.string().min(1).describe('What to ask the agent.'),
  thread_id: id.optional().describe('Continues the conversation of this thread. Default: a new conversation.'),
  request_id: id
    .optional()
    .describe('An id that you choose for this request, such as a UUID. Repeat it to retry without a second run.'),
  create_thread: z.boolean().optional().describe('Create the thread of thread_id if it does not exist.'),
});

/** Names that begin so are the server's own tools. */
const ownPrefix = 'lanefold_';

export const isTool = ({ name }: AgentSummary): boolean => !name.startsWith(ownPrefix);

export const agentTool = ({ name, description, outputSchema }: AgentSummary, toolName: string): Tool => ({
  name: toolName,
  title: name,
  description:
    `${description ?? `Asks the agent ${name}.`} Returns its answer, or, if that takes long, how to ask for it later.` +
    ' The agent remembers a conversation by its thread_id.',
  inputSchema: inputSchemaOf(agentInput),
  outputSchema: runSchema(usableContract(outputSchema).schema),
  // its tools may do anything
  annotations: { title: name, readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
});

/** Whether a result may stand in `output` of the tool of an agent. A handoff may leave the result to another one. */
export const fitsAgent =
  (agent: AgentSummary | undefined, ranAs: string) =>
  (result: unknown): boolean =>
    agent === undefined || (agent.name === ranAs && usableContract(agent.outputSchema).fits(result));

/** The JSON Schema of a tool's arguments. Without a dialect, which some clients do not know. */
export function inputSchemaOf(schema: z.ZodType): Tool['inputSchema'] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' });
  return json as Tool['inputSchema'];
}

/** @throws LanefoldError `invalid_input` that names each wrong argument */
export function readArguments<T>(tool: string, schema: z.ZodType<T>, given: unknown): T {
  const { success, data, error } = schema.safeParse(given ?? {});
  if (success) return data;
  const wrong = error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  throw new LanefoldError('invalid_input', `The arguments of ${tool} are invalid: ${wrong.join('; ')}.`, {
    hint: 'Nothing was started. See its input schema.',
  });
}

/** Where the contract of an agent stands in the output schema of its tool. */
const place = '#/properties/output';

const anything: JsonObject = { description: 'The answer: text, or what the strategy of the agent returns.' };

/**
 * The JSON Schema of what a tool returns about a run. It holds for every run that did not fail, whether it has ended or
 * not, so `output` may be missing.
 *
 * @param contract the JSON Schema of the agent's results; null: no contract
 */
export const runSchema = (contract: JsonObject | null): JsonObject & { type: 'object' } => ({
  type: 'object',
  properties: {
    thread_id: { type: 'string', description: 'Pass it to continue the conversation.' },
    run_id: { type: 'string' },
    status: { enum: ['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled'] },
    termination_reason: {
      type: 'string',
      description: 'Why the run ended: final_answer, or the limit that it reached.',
    },
    truncated: { const: true, description: 'The answer was cut, at the limit of output tokens or by a filter.' },
    output: contract === null ? anything : nested(contract),
    open_calls: {
      type: 'array',
      description: 'Tool calls that wait for a person; see lanefold_decide and lanefold_resolve.',
      items: {
        type: 'object',
        properties: {
          call: { type: 'string' },
          kind: { enum: ['approval', 'event'] },
          tool: { type: 'string' },
          arguments: {},
          event: { type: 'string' },
          until: { type: 'string' },
        },
        required: ['call', 'kind', 'tool'],
      },
    },
  },
  required: ['thread_id', 'run_id', 'status'],
});

/** A schema that stands inside another one: its references begin at its new place, and it names no dialect. */
function nested({ $schema: _, ...schema }: JsonObject): JsonObject {
  return moved(schema) as JsonObject;
}

/** Their values are data, in which `$ref` means nothing. */
const data = new Set(['const', 'enum', 'default', 'examples']);

function moved(node: unknown, key = ''): unknown {
  if (key === '$ref' && typeof node === 'string') return node.startsWith('#') ? place + node.slice(1) : node;
  if (data.has(key) || typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((item) => moved(item));
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, moved(value, name)]));
}

/** The contract of an agent as clients can use it. */
interface UsableContract {
  /** Null without a contract, or if clients could not compile it. */
  schema: JsonObject | null;
  /** Whether a result matches it as a client would check it. */
  fits(result: unknown): boolean;
}

const known = new WeakMap<JsonObject, UsableContract>();

/**
 * Clients compile the schema of every tool before they call one, so a contract that they reject would make the whole
 * server useless to them: such a contract is left out.
 */
export function usableContract(contract: JsonObject | null): UsableContract {
  if (contract === null) return { schema: null, fits: () => true };
  const before = known.get(contract);
  if (before) return before;
  const usable = compiled(contract);
  known.set(contract, usable);
  return usable;
}

function compiled(contract: JsonObject): UsableContract {
  try {
    const check = new AjvJsonSchemaValidator().getValidator(runSchema(contract));
    const run = { thread_id: 't', run_id: 'r', status: 'completed' };
    return { schema: contract, fits: (output) => check({ ...run, output }).valid };
  } catch {
    return { schema: null, fits: () => true };
  }
}

/** The trace that the client is in: the run continues it. */
export function traceparentOf({ mcpReq: { _meta } }: ServerContext): string | undefined {
  const given = (_meta as Record<string, unknown> | undefined)?.[TRACEPARENT_META_KEY];
  // it becomes a header
  return typeof given === 'string' && /^[\x21-\x7e]{1,200}$/.test(given) ? given : undefined;
}
