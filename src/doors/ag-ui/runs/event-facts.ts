import type { RunEvent } from '../../../database/store/trace/types.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { TenantLibrary } from '../../../features/library/library.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { isTerminal } from '../../../runs/streams/deltas.ts';
import { clientIdIn } from '../../../runs/formats/ag-ui/content.ts';
import type { FoundNode } from '../../../runs/formats/ag-ui/nodes.ts';
import { callName } from '../../../base/checks/call-name.ts';
import type { EventFacts, RunEvents, EndedSubAgent } from '../../../runs/formats/ag-ui/run-events.ts';

const entriesAtOnce = 20;
const nodesAtOnce = 500;

/** Reads what the events of a run do not say themselves: nodes of strategies, ends of sub-agents. */
export class EventContext {
  /** The run that a call waits for, by the place of the call. */
  readonly #children = new Map<string, RunRef>();
  /** Whether a call of the current round has waited for the client, which may have named its result. */
  #waits = false;

  constructor(
    private readonly lanefold: TenantLibrary,
    private readonly run: RunRef,
  ) {}

  async of({ kind, data }: RunEvent, { nodes, lastSeq }: RunEvents): Promise<EventFacts> {
    if (kind === 'llm_completed' && typeof data['node'] === 'number') {
      const [node] = await this.lanefold.runs.nodes(this.run, { after: data['node'] - 1, limit: 1 });
      return node ? { node: toFound(node) } : {};
    }
    if (kind === 'wait_started' && data['kind'] === 'run') {
      const { thread_id: threadId, run_id: id } = Object(data['child']) as JsonObject;
      this.#children.set(callName(data), { threadId: String(threadId), id: String(id) });
    }
    if (kind === 'llm_completed') this.#waits = false;
    if (kind === 'wait_started' && data['kind'] === 'event') this.#waits = true;
    const child = kind === 'wait_ended' ? this.#children.get(callName(data)) : undefined;
    if (child) return { subAgent: await this.#readChild(child) };
    if (!nodes.any || !isTerminal(kind)) return {};
    return { nodes: await this.nodes(), answer: await this.#answerAfter(lastSeq) };
  }

  /** As `of`, for an event whose result is shown. */
  async live(event: RunEvent, events: RunEvents): Promise<EventFacts> {
    return { ...(await this.of(event, events)), resultId: await this.#resultId(event) };
  }

  /** The id that a client gave the result that an event is about. */
  async #resultId({ kind, data }: RunEvent): Promise<string | undefined> {
    if (kind !== 'tool_completed' || !this.#waits || typeof data['seq'] !== 'number') return undefined;
    const after = data['seq'] - 1;
    const [entry] = await this.lanefold.threads.entries(this.run.threadId, { after, kind: 'ai_message', limit: 1 });
    return clientIdIn(entry?.refs);
  }

  /** All nodes of the run. */
  async nodes(): Promise<[node: number, found: FoundNode][]> {
    const all: [number, FoundNode][] = [];
    for (let after = 0; ;) {
      const page = await this.lanefold.runs.nodes(this.run, { after, limit: nodesAtOnce });
      all.push(...page.map((node) => [node.node, toFound(node)] as [number, FoundNode]));
      if (page.length < nodesAtOnce) return all;
      after = page.at(-1)!.node;
    }
  }

  /** How a child run ended, and what it and its own children used. */
  async #readChild(child: RunRef): Promise<EndedSubAgent | undefined> {
    // of a run that was erased since, only the call remains
    const tree = await this.lanefold.runs.tree(child).catch(() => undefined);
    const from = tree?.runs.findIndex(({ id }) => id === child.id) ?? -1;
    if (!tree || from < 0) return undefined;
    const [{ depth, status, error }] = tree.runs.slice(from) as [(typeof tree.runs)[number]];
    const next = tree.runs.findIndex((run, at) => at > from && run.depth <= depth);
    const spent = tree.runs.slice(from, next < 0 ? undefined : next);
    return { status, error, spent: spent.map(({ model, usage }) => ({ model, usage })) };
  }

  /** The answer that a strategy has written at the end, which no event names. */
  async #answerAfter(seq: number): Promise<EventFacts['answer']> {
    const entries = await this.lanefold.threads.entries(this.run.threadId, {
      after: seq,
      kind: 'ai_message',
      limit: entriesAtOnce,
    });
    const { contextRef } = await this.lanefold.runs.get(this.run);
    return entries.find(
      (entry) => entry.runId === this.run.id && entry.role === 'assistant' && entry.contextRef === contextRef,
    );
  }
}

const toFound = ({ parent, depth, score, status, content }: FoundNode): FoundNode => ({
  parent,
  depth,
  score,
  status,
  content,
});
