import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { isObject } from '../../../base/common/json.ts';
import type { AgUiEvent, PatchOperation, AgUiMessage } from './event.ts';

/** What a strategy found out by a question, as `runs.nodes` returns it. */
export interface FoundNode {
  parent: number | null;
  depth: number | null;
  score: number | null;
  status: string;
  content: string | null;
}

export const nodeActivity = 'lanefold.node';

/** The questions that a strategy asks outside the conversation, each an activity of its run. */
export class NodeActivities {
  readonly #shown = new Map<number, JsonObject>();

  constructor(private readonly runId: string) {}

  get any(): boolean {
    return this.#shown.size > 0;
  }

  *asked(data: JsonObject): Generator<AgUiEvent> {
    const node = Number(data['node']);
    if (this.#shown.has(node)) yield* this.#change(node, { status: 'asked' });
    else yield* this.#show(node, { node, purpose: data['purpose'] ?? null, status: 'asked' });
  }

  *answered(data: JsonObject, found: FoundNode | undefined): Generator<AgUiEvent> {
    const node = Number(data['node']);
    if (!this.#shown.has(node)) yield* this.#show(node, { node, purpose: data['purpose'] ?? null, status: 'asked' });
    yield* this.#change(node, found ? { ...found } : { status: 'answered' });
  }

  /** What is known of a node by now; nothing for one that was not asked for. */
  *changed(node: number, found: FoundNode): Generator<AgUiEvent> {
    if (this.#shown.has(node)) yield* this.#change(node, { ...found });
  }

  /** Takes in what is known of all nodes, before a client joins. */
  pass(nodes: readonly (readonly [node: number, found: FoundNode])[]): void {
    for (const [node, found] of nodes) for (const event of this.changed(node, found)) void event;
  }

  /** All of them, for a client that joins. */
  *announce(): Generator<AgUiEvent> {
    for (const [node, content] of this.#shown) yield this.#snapshot(node, content);
  }

  *#show(node: number, content: JsonObject): Generator<AgUiEvent> {
    this.#shown.set(node, content);
    yield this.#snapshot(node, content);
  }

  *#change(node: number, changes: Record<string, Json>): Generator<AgUiEvent> {
    const before = this.#shown.get(node)!;
    this.#shown.set(node, { ...before, ...changes });
    const patch = Object.entries(changes)
      .filter(([key, value]) => before[key] !== value)
      .map(([key, value]): PatchOperation => ({ op: 'add', path: `/${key}`, value }));
    if (patch.length > 0)
      yield { type: 'ACTIVITY_DELTA', messageId: this.#idOf(node), activityType: nodeActivity, patch };
  }

  #snapshot = (node: number, content: JsonObject): AgUiEvent => ({
    type: 'ACTIVITY_SNAPSHOT',
    messageId: this.#idOf(node),
    activityType: nodeActivity,
    content,
  });

  #idOf = (node: number): string => `${this.runId}.node.${node}`;
}

/** Keys that clients refuse in a patch, because they could change the prototype of an object. */
const refused = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * The patch that turns one state into another. An array is replaced as a whole, as the state operations of tools do.
 * Undefined if clients would not apply it.
 */
export function patchOf(before: JsonObject, after: JsonObject): PatchOperation[] | undefined {
  const patch = [...differences(before, after, '')];
  const keys = patch.flatMap(({ path }) => path.split('/').slice(1));
  return keys.some((key) => refused.has(key)) ? undefined : patch;
}

function* differences(before: JsonObject, after: JsonObject, at: string): Generator<PatchOperation> {
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) yield { op: 'remove', path: pathOf(at, key) };
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (old === undefined) yield { op: 'add', path: pathOf(at, key), value };
    else if (isObject(old) && isObject(value)) yield* differences(old, value, pathOf(at, key));
    else if (!sameJson(old, value)) yield { op: 'replace', path: pathOf(at, key), value };
  }
}

const pathOf = (at: string, key: string): string => `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Whether two values are the same JSON, whatever the order of their keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [Object.entries(a), b as Record<string, unknown>];
  return (
    left.length === Object.keys(b).length &&
    left.every(([key, value]) => Object.hasOwn(right, key) && sameJson(value, right[key]))
  );
}

type Snapshot = Extract<AgUiEvent, { type: 'MESSAGES_SNAPSHOT' }>;

/**
 * The snapshots after which a client has these messages in this order. A client merges a snapshot with what it has: it
 * drops what the snapshot lacks, leaves the rest in its own order, and appends what is new. If that would be another
 * order, a first snapshot has only the beginning that the client has in the right order.
 *
 * @param had by the client, in its order
 */
export function* snapshots(messages: readonly AgUiMessage[], had: readonly AgUiMessage[]): Generator<Snapshot> {
  const ids = new Set(messages.map(({ id }) => id));
  const kept = had.filter(({ id }) => ids.has(id));
  const wrong = kept.findIndex(({ id }, at) => id !== messages[at]?.id);
  if (wrong < 0) yield toSnapshot(messages);
  else yield* snapshotsAfter(messages.slice(0, wrong), messages);
}

/** As `snapshots`, whatever the client has behind the first messages. */
export function* snapshotsAfter(first: readonly AgUiMessage[], messages: readonly AgUiMessage[]): Generator<Snapshot> {
  const keepsReasoning = reasons(messages) && !reasons(first);
  yield toSnapshot(keepsReasoning ? [...first, otherReasoning] : first);
  yield toSnapshot(messages);
}

/** Clients keep all their reasoning if a snapshot has none. */
const reasons = (messages: readonly AgUiMessage[]): boolean => messages.some(({ role }) => role === 'reasoning');
const otherReasoning: AgUiMessage = { id: 'lanefold.other-reasoning', role: 'reasoning', content: '' };

const toSnapshot = (messages: readonly AgUiMessage[]): Snapshot => ({
  type: 'MESSAGES_SNAPSHOT',
  messages: [...messages],
});
