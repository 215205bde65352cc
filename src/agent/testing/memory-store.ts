import type { EntryDraft, EventDraft, StrategyState, StepDraft } from '../strategies/machine.ts';
import { changedNode, type StrategyNode, type StoredAnswer } from '../strategies/node.ts';
import { parseJson } from '../../base/common/json.ts';

/** The database rejects a larger state. */
const maxStateBytes = 65_536;

/** What the database would store for a simulated run. */
export class MemoryStore {
  state: StrategyState | null = null;
  readonly entries: EntryDraft[] = [];
  readonly events: EventDraft[] = [];
  readonly nodes = new Map<number, StrategyNode>();

  /** Stores a step in the form it has after JSON, and returns the size of the state in bytes. */
  commit(state: StrategyState, step: StepDraft): number {
    const json = JSON.stringify(state);
    const bytes = Buffer.byteLength(json);
    if (bytes > maxStateBytes) throw new Error(`The state has ${bytes} bytes; at most ${maxStateBytes} are stored.`);
    this.state = parseJson(json) as StrategyState;
    for (const node of step.nodes ?? []) {
      const changed = changedNode(this.nodes.get(node.node), node);
      this.nodes.set(node.node, JSON.parse(JSON.stringify(changed)) as StrategyNode);
    }
    this.entries.push(...(step.entries ?? []));
    this.events.push(...(step.events ?? []), ...(step.thenEvents ?? []));
    return bytes;
  }

  /** The stored answers, as a later claim returns them. */
  answers(): StoredAnswer[] {
    return [...this.nodes.values()]
      .filter((node) => node.callNo !== undefined)
      .sort((a, b) => a.node - b.node)
      .map(({ node, kind, status, content, usage, elapsedMs, data }) => ({
        node,
        kind: kind!,
        status: status as StoredAnswer['status'],
        content: content ?? null,
        usage: usage!,
        elapsedMs: elapsedMs!,
        rounds: (data?.['rounds'] ?? []) as unknown as StoredAnswer['rounds'],
      }));
  }

  /** Tokens of the stored answers. */
  tokens(): number {
    return [...this.nodes.values()].reduce((sum, node) => sum + (node.usage?.total_tokens ?? 0), 0);
  }
}
