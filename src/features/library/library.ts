import type { AgentDefinition } from '../../agent/definition/definition.ts';
import type { Logger } from '../../base/log/logger.ts';
import type { RunQueue } from '../../runs/queue/queue.ts';
import type { AuditLog, ApiKeys } from '../../runs/operations/access/keys.ts';
import type { Agents } from '../../runs/operations/agents/agents.ts';
import type { TamperEvidence } from '../../runs/operations/evidence/evidence.ts';
import type { Contexts } from '../../runs/operations/contexts/methods.ts';
import type { Limits } from '../../runs/operations/limits/limits.ts';
import type { FeatureLibrary } from './features.ts';
import type { Approvals } from '../../runs/operations/runs/types.ts';
import type { Runs } from '../../runs/operations/runs/runs.ts';
import type { StrategyName } from '../../agent/strategies/types.ts';
import type { TenantStreams } from '../../runs/streams/open.ts';
import type { Events, Waits } from '../../runs/operations/waits/types.ts';
import type { Threads } from '../../runs/operations/threads/methods.ts';
import type { SignedEvents } from '../../runs/operations/waits/events.ts';
import type { WorkOptions } from '../../worker/process/work.ts';
import type { DeclaredLibrary, Tenants, Workers, WorkReport } from '../../runs/operations/fleet/types.ts';

/** Threads and everything that belongs to them, of one tenant or of all. */
export interface TenantLibrary<
  AGENTS extends AgentDefinition = AgentDefinition,
  STRATEGY extends string = StrategyName,
> extends FeatureLibrary {
  readonly threads: Threads;
  readonly runs: Runs<AGENTS, STRATEGY>;
  readonly contexts: Contexts;
  /** API keys with scopes, and tokens for browsers. */
  readonly keys: ApiKeys;
  /** Limits of runs, model calls, tokens and money, and what was used of them. */
  readonly limits: Limits;
  /** Events for tool calls that wait. */
  readonly events: Events & SignedEvents;
  /** What tool calls wait for, and how to resolve them. */
  readonly waits: Waits;
  /** The audit log: who did what. */
  readonly audit: AuditLog;
  /** Tool calls of all threads that wait for human approval, soonest to expire first. */
  readonly approvals: Approvals;
  /** Live streams: like `runs.stream`, `runs.streamTree` and `threads.stream`, with errors thrown before the first item. */
  readonly streams: TenantStreams;
  /** Tamper evidence for the threads of tenants that have it enabled. */
  readonly evidence: TamperEvidence;
  /** Undefined: every tenant that the role of the connection may see. */
  readonly tenant: string | undefined;
}

/** Every operation that needs no worker; the HTTP API is built on it. */
export interface Library<AGENTS extends AgentDefinition = AgentDefinition, STRATEGY extends string = StrategyName>
  extends TenantLibrary<AGENTS, STRATEGY>, DeclaredLibrary {
  /**
   * The same library for one tenant. The database shows only this tenant's rows, so a thread of another tenant does not
   * exist (`thread_not_found`), and a new thread belongs to this tenant.
   *
   * @throws LanefoldError `invalid_id`, `tenants_not_enforced`; `invalid_input` if this library is bound to another
   * tenant
   *
   * @example
   * const acme = lanefold.forTenant('acme');
   * const run = await acme.runs.enqueue({ agent: 'support', input: 'Where is my order?' });
   */
  forTenant(tenant: string): TenantLibrary<AGENTS, STRATEGY>;
  /**
   * Works for a bounded time in this process: starts a worker, has it do what is due, and stops it once nothing is due or the
   * time is over. For functions that a platform starts and ends, such as those that a scheduler calls each minute.
   *
   * @throws LanefoldError `queue_unreachable`, `role_unfit`, `invalid_input`
   *
   * @example
   * const { ended, idle } = await lanefold.work({ maxMs: 20_000 });
   */
  work(options?: WorkOptions): Promise<WorkReport>;
  /** Settings of tenants: limits of all their keys together, and tamper evidence. */
  readonly tenants: Tenants;
  /** The agents this process knows, the versions that workers have started with, and which of them serve. */
  readonly agents: Agents;
  /** The workers of all processes, and which of them are alive. */
  readonly workers: Workers;
  /** Where this process logs; redacted. */
  readonly log: Logger;
  /** Hides the values of `redactKeys` in data that people see, such as traces. */
  redact<T>(value: T): T;
  readonly databaseUrl: string;
  readonly queueBackend: 'redis' | 'postgres';
  /** The BullMQ queues, one per shard; for inspection. */
  readonly queues: RunQueue['queues'];
  /** Every tool a thread may register. */
  readonly toolNames: readonly string[];
}
