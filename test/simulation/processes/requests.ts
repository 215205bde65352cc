import type { Random } from '../../../src/ops/chaos/schedule.ts';
import type { JsonObject } from '../../../src/agent/context/message.ts';

/** What a client has sent, to send it again. */
export interface Sent {
  runs: { threadId: string; body: JsonObject }[];
  operations: { threadId: string; opId: string; operation: JsonObject; contextRef: string | undefined }[];
  inputs: { threadId: string; input: { id: string; kind: 'steer'; content: string; by: string } }[];
}

/** What clients ask for; what is named more often is asked more often. */
export const kinds = [
  'append',
  'append',
  'append',
  'append',
  'say',
  'say',
  'expect',
  'enqueue',
  'enqueue',
  'enqueue',
  'enqueue',
  'enqueue',
  'enqueue',
  'enqueue',
  'again',
  'steer',
  'steer',
  'steer',
  'steer again',
  'cancel',
  'cancel',
  'decide',
  'decide',
  'decide',
  'decide',
  'operate',
  'operate',
  'operate',
  'operate again',
  'fork',
  'read',
  'read',
  'usage',
  'compact',
  'summarise',
  'harm',
] as const;

export type Kind = (typeof kinds)[number];

/** A run to enqueue: some start later, or have a time to live, a priority or a lane. @param task what its model reads */
export function toRequest(name: string, lane: string | undefined, random: Random, task = 'go'): JsonObject {
  const later: JsonObject = random.chance(0.05) ? { delay_ms: random.int(500, 6_000) } : {};
  const ttl: JsonObject = random.chance(0.05) ? { ttl_ms: random.int(500, 8_000) } : {};
  const requestId = random.chance(0.5) ? `run-${name}` : `request-${name}`;
  return {
    run_id: `run-${name}`,
    request_id: requestId,
    request_hash: 'aa',
    create_thread: true,
    agent: 'agent',
    strategy: 'react',
    model: 'simulated:x',
    input: { content: `${task} ${name}` },
    busy: random.pick(['wait', 'wait', 'wait', 'interrupt', 'reject']),
    ...(lane === undefined ? {} : { context_ref: lane }),
    ...(random.chance(0.15) ? { options: { priority: random.int(1, 3) } } : {}),
    ...later,
    ...ttl,
  };
}

/** Asks for a run that compacts a lane. */
export const toCompaction = (name: string, lane: string | undefined, random: Random): JsonObject => ({
  run_id: `run-${name}`,
  request_id: `run-${name}`,
  request_hash: 'aa',
  busy: 'wait',
  agent: 'agent',
  strategy: 'compaction',
  model: 'simulated:x',
  context_ref: lane ?? 'default',
  options: { compaction: { cause: 'request', keepTurns: random.int(0, 2) }, takes_input: false },
});

/** A compaction that a client has made itself, from the context as of an entry. */
export const toSummary = (opId: string, base: number): JsonObject => ({
  type: 'replace',
  reason: 'compaction',
  base_seq: base,
  result_context: { entries: [{ role: 'user', content: `summary ${opId}`, refs: { kind: 'summary' } }] },
});

/** A context operation: most of them replace the messages of a lane, some also its prompt. */
export function toOperation(opId: string, random: Random): JsonObject {
  const prompt: JsonObject = random.chance(0.3) ? { system_prompt: random.chance(0.8) ? `be ${opId}` : null } : {};
  const entries = [{ role: 'user', content: `remember ${opId}` }];
  return random.chance(0.8) ? { type: 'replace', result_context: { ...prompt, entries } } : { type: 'switch' };
}
