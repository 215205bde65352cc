import type { Database } from '../../database/postgres/pool.ts';
import { findAgentQueues } from '../../database/store/run/find-agent-queues.ts';
import { findUnknownAgents, type UnknownAgent } from '../../database/store/run/find-unknown-agents.ts';
import { knows, type Capabilities } from '../../database/store/worker/find-lacking.ts';
import type { WorkerPart } from '../part.ts';
import type { OpenWorker } from './open-worker.ts';

/**
 * The queues of agents. A worker that takes a job but lacks its agent, or the version, strategy or tools of its run, moves the job to
 * the queue named `agent`, `agent@version`, `agent+strategy` or `agent~hash of the tools`. Workers that have all open that queue once
 * it has a job; if every worker has everything, no such queue exists.
 */
export class AgentQueues implements WorkerPart {
  readonly channels = { lanefold_agent: (payload: string | undefined) => void this.notified(payload) };
  readonly #opened = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(
    private readonly db: Database,
    private readonly prefix: string,
    private readonly known: Capabilities,
    /** Starts processing the jobs of a queue. */
    private readonly start: (queue: string) => Promise<unknown>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /**
   * Handles the notification that a run was moved, with the payload `prefix queue`. Without a payload,
   * notifications may have been missed.
   */
  async notified(payload: string | undefined): Promise<void> {
    if (payload === undefined) return this.openAll().catch(this.onError);
    const queue = payload.startsWith(`${this.prefix} `) ? payload.slice(this.prefix.length + 1) : undefined;
    if (queue === undefined || !this.#isForThisWorker(queue)) return;
    // the rows of the runs say which tools they are
    if (queue.includes('~')) return this.openAll().catch(this.onError);
    await this.#open(queue);
  }

  /** Opens every queue that holds moved runs which this worker can execute. `since`: see `findOldestDue`. */
  async openAll(since?: string): Promise<void> {
    await Promise.all((await findAgentQueues(this.db, this.known, since)).map((queue) => this.#open(queue)));
  }

  /** Opens no more queues, and waits for those that are being opened. */
  close(): Promise<unknown> {
    this.#closed = true;
    return Promise.allSettled(this.#opened.values());
  }

  #isForThisWorker(queue: string): boolean {
    const [named, strategy] = queue.replace(/~.*/, '').split('+');
    const [agent, version] = named!.split('@');
    return knows(this.known, { agent: agent!, version, strategy });
  }

  async #open(queue: string): Promise<unknown> {
    if (this.#closed) return;
    const opened =
      this.#opened.get(queue) ??
      this.start(queue).catch((error: unknown) => {
        this.#opened.delete(queue);
        this.onError(error);
      });
    this.#opened.set(queue, opened);
    return opened;
  }
}

const againMs = 60_000;

/**
 * Reports agents, and versions, strategies and tools of agents, that runs wait for and no worker knows: each once, and again after a
 * minute, with the number of runs.
 */
export function unknownAgents({ deps: { db, log }, queue, options, since }: OpenWorker): WorkerPart {
  const report =
    options.onUnknownAgent ??
    ((unknown: UnknownAgent) =>
      log.error({ component: 'worker', agent: unknown.agent }, describeUnknownAgent(unknown)));
  /** When each was reported. Kept for a minute, also if its runs have ended and others wait. */
  const reported = new Map<string, number>();
  const look = async () => {
    const found = await findUnknownAgents(db, queue.prefix, await since());
    const now = performance.now();
    for (const [name, at] of reported) if (now - at > againMs) reported.delete(name);
    for (const agent of found) {
      const name = JSON.stringify([agent.agent, agent.version, agent.strategy, agent.tools]);
      if (reported.has(name)) continue;
      reported.set(name, now);
      report(agent);
    }
  };
  return { sweeps: [{ work: look }] };
}

/** One line for people: what waits, and what to do. */
const describeUnknownAgent = ({ agent, version, strategy, tools, runs, since }: UnknownAgent): string => {
  const lacking = [
    ...(tools === null
      ? []
      : [
          tools.length === 1
            ? `the tool ${JSON.stringify(tools[0])}`
            : `all of the tools ${tools.map((name) => JSON.stringify(name)).join(', ')}`,
        ]),
    ...(strategy === null ? [] : [`the strategy ${JSON.stringify(strategy)}`]),
    ...(version === null ? [] : [`version ${JSON.stringify(version)}`]),
    `the agent ${JSON.stringify(agent)}`,
  ];
  return (
    `no worker knows ${lacking.join(' of ')}: ${runs === 1 ? 'one run has' : `${runs} runs have`} been waiting for it since ` +
    `${since.toISOString()}; start a worker that has it, or cancel ${runs === 1 ? 'the run' : 'them'}`
  );
};
