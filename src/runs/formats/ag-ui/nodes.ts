import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { AgUiEvent, PatchOperation } from './event.ts';

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
    ...{ type: 'ACTIVITY_SNAPSHOT', messageId: this.#idOf(node), activityType: nodeActivity, content },
  });

  #idOf = (node: number): string => `${this.runId}.node.${node}`;
}
