import type { JsonObject, Message } from '../context/message.ts';
import type { CallSettings } from '../models/settings.ts';
import { LanefoldError } from '../../base/errors.ts';

/** The parts of one model call. The transformer gets its own copy. */
export interface ModelRequest {
  /** `provider:model` or an alias. */
  model: string;
  /** The context of the lane, the system prompt first. */
  messages: Message[];
  settings: CallSettings;
  /** Names of the tools offered to the model. */
  tools: string[];
}

/** The run and iteration of a model call. */
export interface TransformerContext {
  threadId: string;
  runId: string;
  requestId: string;
  agent: string;
  /** From 1. */
  iteration: number;
  /** Tool context of agent, thread and request, merged. */
  context: JsonObject;
  /** Snapshot of the thread's tool state. */
  state: JsonObject;
  /** Aborts on a cancel and on a lost lease. */
  signal: AbortSignal;
}

/**
 * Inspects every model call before it is made and returns what to change, for this call only. `settings` are merged
 * over the current ones; other fields are replaced; null or absent fields stay. `tools` can only be narrowed, and a
 * removed tool cannot run either. The changes are not stored; the `refs` of the answer only record that there were
 * some.
 *
 * A transformer runs again when its call is retried or resumed, on any worker, so its result must depend only on its
 * arguments. An exception fails the run with `request_transform`.
 *
 * @example
 * const lastTen: RequestTransformer = ({ messages }) => ({ messages: messages.slice(-10) });
 */
export type RequestTransformer = (
  request: ModelRequest,
  context: TransformerContext,
) => TransformedRequest | undefined | void | Promise<TransformedRequest | undefined | void>;

export type TransformedRequest = { [K in keyof ModelRequest]?: ModelRequest[K] | null };

type Named = Record<string, RequestTransformer>;

/**
 * Finds a transformer by name; those of the agent take precedence over shared ones.
 *
 * @throws LanefoldError `invalid_request_transformer`
 */
export function findTransformer(name: string, own: Named, shared: Named): RequestTransformer {
  const found = [own, shared].find((named) => Object.hasOwn(named, name))?.[name];
  if (found) return assertTransformer(name, found);
  const known = [...Object.keys(own), ...Object.keys(shared)].sort();
  throw new LanefoldError(
    'invalid_request_transformer',
    `Request transformer ${JSON.stringify(name)} does not exist.`,
    {
      hint: known.length > 0 ? `Known: ${known.join(', ')}.` : 'Pass requestTransformers: { … } to createLanefold.',
      details: { name, known },
    },
  );
}

export function assertTransformer(name: string, transformer: unknown): RequestTransformer {
  if (typeof transformer === 'function') return transformer as RequestTransformer;
  throw new LanefoldError(
    'invalid_request_transformer',
    `Request transformer ${JSON.stringify(name)} is not a function.`,
    { hint: 'Pass a function such as (request, context) => ({ … }).' },
  );
}
