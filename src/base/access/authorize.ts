import { LanefoldError } from '../errors.ts';
import { may, type Principal, type Scope } from './principal.ts';

/** The subject of a request, derived from its path, query and body. */
interface Subject {
  scope: Scope;
  /** Its `operationId`. */
  operation: string;
  /** The fields of its body. */
  fields: readonly string[];
  tenantId?: string | undefined;
  threadId?: string | undefined;
  runId?: string | undefined;
  agents?: readonly string[];
}

/** @throws LanefoldError `forbidden` */
export function assertScope(principal: Principal, scope: Scope): void {
  if (!may(principal, scope)) throw forbidden(`it lacks the scope ${scope}`);
}

/**
 * Allows a request, or throws an error that names the limit of its key. The tenant of a thread is not checked here: a
 * library for one tenant does not find the threads of others.
 *
 * @throws LanefoldError `forbidden`
 */
export function authorize(principal: Principal, subject: Subject): void {
  const { scope, operation, fields, tenantId, threadId, runId, agents: asked = [] } = subject;
  assertScope(principal, scope);
  const { tenant, threadId: only, runId: onlyRun, threadPrefix, agents, operations } = principal;
  const allowed = operations && (Object.hasOwn(operations, operation) ? operations[operation]! : undefined);
  if (operations && !allowed) throw forbidden(`${operation} requires a key, not a browser token`);
  const surplus = allowed && fields.find((field) => !allowed.includes(field));
  if (surplus !== undefined) throw forbidden(`a browser token may send only the fields ${allowed!.join(', ')} here`);
  if (tenant !== undefined && tenantId !== undefined && tenant !== tenantId)
    throw forbidden(`it is limited to tenant ${tenant}`);
  if (only !== undefined && threadId !== only) throw forbidden(`it is limited to thread ${only}`);
  if (onlyRun !== undefined && runId !== onlyRun) throw forbidden(`it is limited to run ${onlyRun}`);
  if (threadPrefix !== undefined && !threadId?.startsWith(threadPrefix)) {
    throw forbidden(`it is limited to threads whose id begins with ${threadPrefix}`);
  }
  if (agents && asked.some((agent) => !agents.includes(agent)))
    throw forbidden(`it is limited to the agents ${agents.join(', ')}`);
}

/** The error for a principal bound to some agents that accesses a thread in which other agents have run too. */
export const otherAgents = (threadId: string, agents: readonly string[]): LanefoldError =>
  forbidden(`it is limited to the agents ${agents.join(', ')}, and another agent has run in thread ${threadId}`);

const forbidden = (why: string): LanefoldError =>
  new LanefoldError('forbidden', `The key or token of this request does not allow this: ${why}.`, {
    hint: 'Use one that does; `lanefold keys list` shows what each key allows.',
  });

/** A bucket of requests that refills over a minute. */
interface Bucket {
  left: number;
  at: number;
}

/**
 * Limits the request rate per key in this process. `take` returns 0 if the request may pass, otherwise the seconds
 * until one may. A key that makes no request for a minute is forgotten, so that memory is bounded by the keys in use.
 */
export class RequestRate {
  readonly #buckets = new Map<string, Bucket>();
  #sweptAt = 0;

  take(key: string, perMinute: number, nowMs = performance.now()): number {
    this.#forget(nowMs);
    const bucket = this.#buckets.get(key) ?? { left: perMinute, at: nowMs };
    bucket.left = Math.min(perMinute, bucket.left + ((nowMs - bucket.at) / 60_000) * perMinute);
    bucket.at = nowMs;
    this.#buckets.set(key, bucket);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / perMinute) * 60);
    bucket.left -= 1;
    return 0;
  }

  #forget(nowMs: number): void {
    if (nowMs - this.#sweptAt < 60_000) return;
    this.#sweptAt = nowMs;
    for (const [key, { at }] of this.#buckets) if (nowMs - at > 60_000) this.#buckets.delete(key);
  }
}
