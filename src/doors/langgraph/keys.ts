import { createHash } from 'node:crypto';
import { assertId, idGrammar } from '../../base/checks/ids.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { Address } from '../../runs/formats/mirror/addresses.ts';
import type { RunnableConfig } from '@langchain/core/runnables';
import { assertStorable } from '../../base/checks/values.ts';

/*
 * The idempotency keys under which checkpoints and writes are appended; they sort as they are read.
 *
 *   langgraph.c.<namespace>.<checkpoint id>              a checkpoint: the ids of LangGraph sort by time
 *   langgraph.w.<namespace>.<checkpoint id>.<hash>       what was added to it later: writes, or another version
 */

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** 128 bits: for texts and requests. */
export const shortHash = (text: string): string => digest(text).slice(0, 22);

/** Namespaces contain characters that keys may not have. */
const namespaceKey = (ns: string): string =>
  ns === '' ? 'root' : createHash('sha256').update(ns).digest('hex').slice(0, 16);

export const checkpointKey = (ns: string, id: string): string => `langgraph.c.${namespaceKey(ns)}.${id}`;

/** `/` is the character after `.`. */
export const checkpointsOf = (ns: string, before?: string): { from: string; below: string } => ({
  from: `langgraph.c.${namespaceKey(ns)}.`,
  below: before === undefined ? `langgraph.c.${namespaceKey(ns)}/` : checkpointKey(ns, before),
});

export const allCheckpoints = { from: 'langgraph.c.', below: 'langgraph.c/' };

export const additionKey = (ns: string, id: string, content: string): string =>
  `langgraph.w.${namespaceKey(ns)}.${id}.${shortHash(content)}`;

/** What was added to the checkpoints from one id to another. */
export const additionsTo = (ns: string, first: string, last = first): { from: string; below: string } => ({
  from: `langgraph.w.${namespaceKey(ns)}.${first}.`,
  below: `langgraph.w.${namespaceKey(ns)}.${last}/`,
});

/** @throws LanefoldError `invalid_id` */
export function assertCheckpointId(id: unknown): asserts id is string {
  assertId(id, 'The checkpoint_id');
  if (id.length > 64) {
    throw new LanefoldError('invalid_id', `The checkpoint_id ${id} is longer than 64 characters.`, {
      hint: 'Use the ids that LangGraph makes.',
    });
  }
}

const generations = /@@\d+$/;

/** Room for the number of a later thread. @throws LanefoldError `invalid_id` */
export function assertThreadId(id: unknown): asserts id is string {
  assertId(id, 'The thread_id');
  if (id.length <= 120 && !generations.test(id)) return;
  throw new LanefoldError('invalid_id', `The thread_id ${id} is too long, or ends like the name of a later thread.`, {
    hint: 'Use up to 120 characters that do not end with @@ and a number.',
  });
}

/**
 * Ids of erased threads are never used again, but LangGraph uses the id of a deleted thread again. The first thread has
 * LangGraph's id, later ones add `@@` and their number.
 */
export const threadOf = (id: string, generation: number): string => (generation === 1 ? id : `${id}@@${generation}`);

export const langGraphIdOf = (threadId: string): string => threadId.replace(generations, '');

/** The lane of a namespace: its name where an id may have it, else a similar one with a hash. */
export function laneOf(root: string, ns: string): string {
  if (ns === '') return root;
  const name = `${root}:${ns}`;
  if (idGrammar.test(name)) return name;
  return `${name.replaceAll(/[^A-Za-z0-9._:@-]/g, '.').slice(0, 110)}.${shortHash(ns).replaceAll(/[-_]/g, '0').slice(0, 12)}`;
}

/** Shorter texts are written again rather than named. */
const worthNaming = 48;

/** The texts that an entry stores. A text that the thread already has is named instead. */
export class Parts {
  readonly texts: string[] = [];
  readonly hashes: string[] = [];
  readonly #own = new Map<string, number>();

  constructor(private readonly known: { get(hash: string): Address | undefined }) {}

  add(text: string, hash = shortHash(text)): Address {
    const before = text.length < worthNaming ? undefined : this.known.get(hash);
    if (before) return before;
    const own = text.length < worthNaming ? undefined : this.#own.get(hash);
    if (own !== undefined) return { seq: -1, index: own };
    this.hashes.push(hash);
    const index = this.texts.push(text) - 1;
    this.#own.set(hash, index);
    return { seq: -1, index };
  }
}

/** Addresses after their entry got its `seq`. */
export const settle = ({ seq, index }: Address, own: number): Address => ({ seq: seq < 0 ? own : seq, index });

/** Where checkpoints are: their thread, as LangGraph names it, and their namespace. */
export interface Place {
  threadId: string;
  ns: string;
}

/** @throws LanefoldError `invalid_id`, `invalid_input` without a thread */
export function placeOf(config: RunnableConfig): Place {
  const { thread_id: threadId, checkpoint_ns: ns = '' } = config.configurable ?? {};
  if (threadId === undefined) {
    throw new LanefoldError('invalid_input', 'The config has no thread_id.', {
      hint: 'Pass { configurable: { thread_id: … } } when you run the graph.',
    });
  }
  assertThreadId(threadId);
  if (typeof ns !== 'string') throw new LanefoldError('invalid_input', 'The checkpoint_ns is not a text.');
  assertStorable(ns, 'The checkpoint_ns');
  return { threadId, ns };
}
