import { setTimeout as delay } from 'node:timers/promises';
import type { Lanefold } from '../../lanefold/lanefold.ts';
import { isLanefoldError } from '../../errors.ts';
import type { Random } from '../random.ts';
import type { JsonObject } from '../../context/message.ts';
import { builtInAgent, randomScript } from './agent.ts';
import { randomTree } from './tree.ts';
import { isConnectionError, isTransient } from '../../postgres/errors.ts';

/** Longer than any fault lasts: an error that persists is not caused by one. */
const patienceMs = 60_000;
const seriesMs = 5_000;

/**
 * Retries a request that wrote nothing or may have written nothing, as a careful client does: each has an idempotency
 * key.
 */
async function persist<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let failingSince: number | undefined;
  for (;;) {
    const askedAt = performance.now();
    try {
      return await request();
    } catch (error) {
      // a request that took long enough starts a new series of failures
      if (failingSince === undefined || performance.now() - askedAt > seriesMs) failingSince = performance.now();
      const mayPass = isConnectionError(error) || (isTransient(error) && performance.now() - failingSince < patienceMs);
      if (!mayPass || signal.aborted) throw error;
      await delay(100);
    }
  }
}

/** Everything acknowledged to clients, which must be in the database whatever was killed. */
export interface Acknowledged {
  runs: { threadId: string; id: string }[];
  inputs: { threadId: string; id: string }[];
  operations: { threadId: string; id: string }[];
  /** Runs of a tree of thoughts, with the result of an undisturbed run. */
  trees: { threadId: string; id: string; result: JsonObject }[];
}

export interface Client {
  lanefold: Lanefold;
  acknowledged: Acknowledged;
  /** Aborts when the campaign stops waiting for runs. */
  signal: AbortSignal;
}

/** The user's agent and its input, which replace the built-in workload. */
export interface CustomWorkload {
  agent: string;
  input: string;
}

/**
 * A run that may also be steered, cancelled, given a deferred context operation or followed by a waiting run. With
 * `pauses`, which times it, the client meanwhile appends to the thread and reads it.
 */
export async function converse(
  client: Client,
  threadId: string,
  name: string,
  random: Random,
  pauses?: Random,
): Promise<void> {
  const lanes = ['default', 'default', 'side'];
  const runs = await Promise.all([
    start(client, threadId, `${name}.a`, random.pick(lanes), random),
    ...(random.chance(0.25) ? [start(client, threadId, `${name}.b`, random.pick(lanes), random)] : []),
  ]);
  const requests: Promise<unknown>[] = pauses ? [appendAndRead(client, threadId, name, pauses)] : [];
  if (random.chance(0.35)) requests.push(steer(client, threadId, name, random));
  if (random.chance(0.2)) requests.push(operate(client, threadId, `${name}.op`, random));
  if (random.chance(0.1)) requests.push(cancel(client, runs[0]!, random.int(50, 1_500)));
  await Promise.all(requests);
  await waitForEnd(client, runs);
}

/** One run of the user's agent in a new thread. */
export async function runCustom(client: Client, threadId: string, workload: CustomWorkload): Promise<void> {
  const { lanefold, acknowledged, signal } = client;
  const request = { ...workload, threadId, createThread: true, requestId: `${threadId}.request` };
  const run = await persist(() => lanefold.runs.enqueue(request), signal);
  acknowledged.runs.push(run);
  await waitForEnd(client, [run]);
}

async function start(client: Client, threadId: string, requestId: string, contextRef: string, random: Random) {
  const input = `Do ${requestId}.`;
  const tree = random.chance(0.2) ? randomTree(random, input) : undefined;
  const work = tree?.request ?? { model: randomScript(random) };
  const request = { agent: builtInAgent, input, threadId, createThread: true, contextRef, ...work };
  const run = await persist(() => client.lanefold.runs.enqueue({ ...request, requestId, busy: 'wait' }), client.signal);
  client.acknowledged.runs.push(run);
  if (tree) client.acknowledged.trees.push({ threadId, id: run.id, result: tree.result });
  return run;
}

async function steer(client: Client, threadId: string, name: string, random: Random): Promise<void> {
  for (let left = random.int(1, 2); left > 0; left--) {
    await delay(random.int(20, 600));
    const inputId = `${name}.steer-${left}`;
    const send = () => client.lanefold.runs.steer(threadId, `And ${inputId}.`, { inputId });
    try {
      await persist(send, client.signal);
      client.acknowledged.inputs.push({ threadId, id: inputId });
    } catch (error) {
      if (!isRejected(error)) throw error;
    }
  }
}

/** The run has ended, is about to, takes no input, or has too much of it waiting. */
const isRejected = (error: unknown): boolean =>
  isLanefoldError(error) && ['no_active_run', 'run_ending', 'not_steerable', 'queue_full'].includes(error.code);

async function operate(client: Client, threadId: string, opId: string, random: Random): Promise<void> {
  const { contexts } = client.lanefold;
  const entries = [{ role: 'user' as const, content: `Remember ${opId}.` }];
  const kind = random.pick(['replace', 'reset', 'switch']);
  await delay(random.int(20, 400));
  await persist(() => {
    if (kind === 'replace') return contexts.replace(threadId, { entries }, { opId, contextRef: 'default' });
    return kind === 'reset'
      ? contexts.reset(threadId, { opId, contextRef: 'default' })
      : contexts.switch(threadId, 'side', { opId });
  }, client.signal);
  client.acknowledged.operations.push({ threadId, id: opId });
}

/** Appends two notes after each other and one beside them, and reads the thread in between. */
async function appendAndRead({ lanefold, signal }: Client, threadId: string, name: string, pauses: Random) {
  const { threads } = lanefold;
  const append = (value: string) => {
    const note = { kind: 'note', payload: { text: value }, refs: { value } };
    return persist(() => threads.append(threadId, [note], { idempotencyKey: value }), signal);
  };
  const read = () => persist(() => threads.entries(threadId, { limit: 1_000 }), signal);
  const inTurn = async () => {
    for (const n of [1, 2]) {
      await delay(pauses.int(10, 400));
      await append(`${name}.note-${n}`);
      await read();
    }
  };
  const beside = async () => {
    await delay(pauses.int(10, 800));
    await Promise.all([append(`${name}.note-3`), read()]);
  };
  await Promise.all([inTurn(), beside()]);
}

async function cancel({ lanefold, signal }: Client, run: { threadId: string; id: string }, afterMs: number) {
  await delay(afterMs);
  await persist(() => lanefold.runs.cancel(run), signal);
}

async function waitForEnd({ lanefold, signal }: Client, runs: { threadId: string; id: string }[]): Promise<void> {
  await Promise.all(runs.map((run) => persist(() => lanefold.runs.wait(run, { signal }), signal))).catch((error) => {
    // otherwise the campaign stopped waiting, and the checks find runs that hang
    if (!signal.aborted && !isLanefoldError(error, 'wait_timeout')) throw error;
  });
}
