import type { EnqueueDeps } from '../runs/operations/runs/enqueue-options.ts';
import type { AgentRegistry } from '../agent/definition/registry.ts';
import type { Database } from '../database/postgres/pool.ts';
import type { DeliveryNotices } from '../database/store/call-function.ts';
import type { Runs } from '../runs/operations/runs/runs.ts';
import type { Keeper } from '../runs/operations/threads/erase.ts';
import type { StartPart } from '../worker/part.ts';

/** The process that features take part in. */
export interface FeatureHost {
  agents: AgentRegistry;
  /** The connections of the process, for the rows that its role may see. */
  all: Database;
  /** The tenant that the process serves; the default one if it serves all. */
  ownTenant: string;
  /** The prefix of a queue that belongs to this process alone; null: it shares its queue. */
  privatePrefix: string | null;
  /** The same connections for one tenant. */
  scopeTo(tenant: string): Database;
  /** What requests for runs need. */
  acceptingOn(db: Database): EnqueueDeps;
  runsFor(tenant: string): Runs;
  eraseThread(tenant: string, threadId: string): Promise<unknown>;
  /** Notified when a commit of this process makes deliveries due. */
  deliveryNotices: DeliveryNotices | undefined;
}

export type PartOfHost = (host: FeatureHost, options: { webhookTimeoutMs?: number | undefined }) => StartPart;

/** What is added to the runs of a process: operations, work in its workers, and the erasure of its own data. */
export interface Feature<Operations extends object = object> {
  /** The part of the library that it adds, for the rows that `db` shows. */
  operations(host: FeatureHost, db: Database, runs: Runs): Operations;
  keeper?: Keeper;
  /** Before a worker starts. */
  prepareWorker?(host: FeatureHost): Promise<void>;
  /** Loads what it does in a worker, if anything: a process without one does not need it. */
  loadPart?(): Promise<PartOfHost>;
}

type OperationsOf<Features> = Features extends readonly [Feature<infer First>, ...infer Rest]
  ? First & OperationsOf<Rest>
  : unknown;

/** All that these features add to a library. */
export const operationsOf = <const Features extends readonly Feature[]>(
  features: Features,
  ...context: Parameters<Feature['operations']>
): OperationsOf<Features> =>
  Object.assign({}, ...features.map((feature) => feature.operations(...context))) as OperationsOf<Features>;
