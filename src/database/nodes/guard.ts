import pLimit, { type LimitFunction } from 'p-limit';
import type pg from 'pg';
import { LanefoldError } from '../../base/errors.ts';
import { isNodeUnreachable } from '../postgres/errors.ts';
import type { Connections, NodeGuard } from '../postgres/node-guard.ts';
import { hashText, Lending, nameOf, shardAt, type Placements } from './placements.ts';
import { WatchedNode, type NodeQuestions } from './watched-node.ts';
import { every, type Timer } from '../../base/common/timer.ts';

/** A statement that waits for longer makes its node suspect; again after each doubling. Ours take milliseconds. */
const suspectMs = 1_000;
const lookMs = 250;
/** Shards move. A statement that is counted for the wrong node is still executed on the right one. */
const refreshMs = 10_000;

interface NodeSource extends NodeQuestions {
  readPlacements(): Promise<Placements>;
}

interface Waiting {
  nodes: readonly WatchedNode[];
  lending: Lending;
  suspectAfterMs: number;
}

/** Sends statements so that a node that does not answer costs others neither their connections nor their time. */
export class Guard implements NodeGuard {
  readonly #nodes = new Map<string, WatchedNode>();
  readonly #targets = new Map<string, Target>();
  /** By pool, then by node; statements for all nodes have the empty name. */
  readonly #limits = new WeakMap<pg.Pool, Map<string, LimitFunction>>();
  readonly #waiting = new Set<Waiting>();
  readonly #timer: Pick<Timer, 'cancel'>;
  #readAt = performance.now();

  constructor(
    private readonly source: NodeSource,
    private placements: Placements,
  ) {
    this.#take(placements);
    this.#timer = every(lookMs, () => this.#look(), { ref: false });
  }

  get nodes(): readonly WatchedNode[] {
    return [...this.#nodes.values()];
  }

  nodeOf(threadId: string): string {
    const shard = shardAt(this.placements.shards, hashText(threadId));
    return shard ? nameOf(shard) : '';
  }

  nodeFor(text: string, values: readonly unknown[]): string | undefined {
    let target = this.#targets.get(text);
    if (target === undefined) this.#targets.set(text, (target = targetOf(text, this.placements)));
    if (target === 'coordinator') return undefined;
    if (target === 'all') return '';
    if ('nodeAt' in target) return `${String(values[target.nodeAt])}:${String(values[target.nodeAt + 1])}`;
    const threadId = values[target.threadAt];
    return typeof threadId === 'string' ? this.nodeOf(threadId) : '';
  }

  carriesOut(functionName: string): boolean {
    return this.placements.delegated.has(functionName);
  }

  async send<T>(
    pool: pg.Pool,
    { text, values }: { text: string; values: readonly unknown[] },
    send: (on: Connections) => Promise<T>,
  ): Promise<T> {
    const name = this.nodeFor(text, values);
    if (name === undefined) return send(pool);
    const nodes = name === '' ? this.nodes : [this.#nodes.get(name)].filter((node) => node !== undefined);
    assertNotSilent(nodes);
    const limit = this.#limitOf(pool, name);
    return limit(() => {
      assertNotSilent(nodes);
      return this.#watch(nodes, pool, send);
    });
  }

  close(): void {
    this.#timer.cancel();
    for (const node of this.nodes) node.close();
  }

  async #watch<T>(nodes: readonly WatchedNode[], pool: pg.Pool, send: (on: Connections) => Promise<T>): Promise<T> {
    const waiting = { nodes, lending: new Lending(pool), suspectAfterMs: suspectMs };
    this.#waiting.add(waiting);
    for (const node of nodes) node.sent.add(waiting.lending);
    try {
      const answer = await send(waiting.lending);
      // one for all nodes may have needed only some of them
      if (nodes.length === 1) nodes[0]!.answered(waiting.lending.lentAt!);
      return answer;
    } catch (error) {
      if (waiting.lending.isCut) throw unreachable(nodes.find((node) => node.isSilent) ?? nodes[0]!, error);
      if (!isNodeUnreachable(error)) throw error;
      for (const node of nodes) node.suspect();
      throw nodes.length === 1 ? unreachable(nodes[0]!, error) : error;
    } finally {
      this.#waiting.delete(waiting);
      for (const node of nodes) node.sent.delete(waiting.lending);
    }
  }

  #limitOf(pool: pg.Pool, name: string): LimitFunction {
    let limits = this.#limits.get(pool);
    if (!limits) this.#limits.set(pool, (limits = new Map()));
    let limit = limits.get(name);
    const most = Math.floor(pool.options.max / (name === '' ? 5 : 2));
    if (!limit) limits.set(name, (limit = pLimit(Math.max(1, most))));
    return limit;
  }

  #look(): void {
    const now = performance.now();
    for (const waiting of this.#waiting) {
      const { lentAt } = waiting.lending;
      if (lentAt === undefined || now - lentAt < waiting.suspectAfterMs) continue;
      waiting.suspectAfterMs *= 2;
      for (const node of waiting.nodes) node.suspect();
    }
    // a standby may have taken the place of a node that is down
    const isInUse = this.#waiting.size > 0 || this.nodes.some((node) => node.isDown);
    if (isInUse && now - this.#readAt > refreshMs) void this.#refresh(now);
  }

  async #refresh(now: number): Promise<void> {
    this.#readAt = now;
    const placements = await this.source.readPlacements().catch(() => undefined);
    if (placements) this.#take(placements);
  }

  #take(placements: Placements): void {
    this.placements = placements;
    const names = new Set(placements.shards.map(nameOf));
    for (const shard of placements.shards) {
      if (!this.#nodes.has(nameOf(shard))) this.#nodes.set(nameOf(shard), new WatchedNode(shard, this.source));
    }
    for (const [name, node] of this.#nodes) {
      if (names.has(name)) continue;
      node.close();
      this.#nodes.delete(name);
    }
  }
}

function assertNotSilent(nodes: readonly WatchedNode[]): void {
  const down = nodes.find((node) => node.isSilent);
  if (down) throw unreachable(down);
}

const unreachable = (node: WatchedNode, cause?: unknown): LanefoldError =>
  new LanefoldError('database_unreachable', `The node ${node.name} of the database does not answer.`, {
    hint: 'Look at its server. Threads on other nodes are not affected; runs of its threads continue when it answers.',
    details: { node: node.name, down_ms: Math.round(node.downMs) },
    ...(cause === undefined ? {} : { cause }),
  });

/**
 * What a statement concerns: the thread in one of its values, a node named by two of them, all nodes, or only what the
 * coordinator has.
 */
type Target = { threadAt: number } | { nodeAt: number } | 'all' | 'coordinator';

const called = /\blanefold\.(\w+)\(\$(\d+)\b/g;
const named = /\blanefold\.(\w+)/g;
const thread = /\bthread_id = \$(\d+)\b/;
const row = /\bid = \$(\d+)\b/;
/** The one statement that goes to the nodes in its first two values. */
const onNode = /\bmaster_run_on_worker\(array\[\$(\d+)/;

/** Reads from the text of a statement which nodes it needs. */
export function targetOf(
  text: string,
  { relations, functions, everywhere }: Pick<Placements, 'relations' | 'functions' | 'everywhere'>,
): Target {
  const at = (position: string | undefined) => Number(position) - 1;
  const node = onNode.exec(text);
  if (node) return { nodeAt: at(node[1]) };
  const names = [...text.matchAll(named)].map(([, name]) => name!);
  if (names.some((name) => everywhere.has(name))) return 'all';
  for (const [, name, position] of text.matchAll(called)) if (functions.has(name!)) return { threadAt: at(position) };
  const distributed = new Set(names.filter((name) => relations.has(name)));
  if (distributed.size > 0) {
    const position = thread.exec(text)?.[1] ?? (only(distributed, 'thread') ? row.exec(text)?.[1] : undefined);
    return position === undefined ? 'all' : { threadAt: at(position) };
  }
  return names.some((name) => functions.has(name)) ? 'all' : 'coordinator';
}

const only = (names: ReadonlySet<string>, name: string): boolean => names.size === 1 && names.has(name);
