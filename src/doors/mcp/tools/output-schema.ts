import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { JsonObject } from '../../../agent/context/message.ts';

/** Where the contract of an agent stands in the output schema of its tool. */
const place = '#/properties/output';

const anything: JsonObject = { description: 'The answer: text, or what the strategy of the agent returns.' };

/**
 * The JSON Schema of what a tool returns about a run. It holds for every run that did not fail, whether it has ended or
 * not, so `output` may be missing.
 *
 * @param contract the JSON Schema of the agent's results; null: none
 */
export const runSchema = (contract: JsonObject | null): JsonObject & { type: 'object' } => ({
  type: 'object',
  properties: {
    thread_id: { type: 'string', description: 'Pass it to go on with the conversation.' },
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
      description: 'Tool calls that wait for a person; see lanefold_decide and lanefold_release.',
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
export interface UsableContract {
  /** Null: none, or one that clients could not compile. */
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
