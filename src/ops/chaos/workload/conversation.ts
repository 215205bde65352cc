import { isLanefoldError } from '../../../base/errors.ts';
import type { RunKey, Random } from '../schedule.ts';
import { builtInAgent, sendEvents, randomScript, scripted, toolNames } from './tools.ts';
import { waitForEnd, type Client, persist } from './journal.ts';
import { delay } from '../../../base/common/timer.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { aot } from '../../../agent/strategies/aot.ts';
import { cot } from '../../../agent/strategies/chain.ts';
import { got } from '../../../agent/strategies/got.ts';
import type { Strategy } from '../../../agent/strategies/registry.ts';
import { tot } from '../../../agent/strategies/tot/tot.ts';
import { trm } from '../../../agent/strategies/trm.ts';
import { simulate } from '../../../agent/testing/simulate.ts';

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
  const requests: Promise<unknown>[] = runs.map(({ sending }) => sending);
  if (pauses) requests.push(appendAndRead(client, threadId, name, pauses));
  if (random.chance(0.35)) requests.push(steer(client, threadId, name, random));
  if (random.chance(0.2)) requests.push(operate(client, threadId, `${name}.op`, random));
  if (random.chance(0.1)) requests.push(cancel(client, runs[0]!, random.int(50, 1_500)));
  await Promise.all(requests);
  await waitForEnd(client, runs);
  if (random.chance(0.1)) await continueOnFork(client, threadId, name, random);
}

/** One run of the user's agent in a new thread. */
export async function runCustom(client: Client, threadId: string, workload: CustomWorkload): Promise<void> {
  const { lanefold, acknowledged, signal } = client;
  const request = { ...workload, threadId, createThread: true, requestId: `${threadId}.request` };
  const run = await persist(() => lanefold.runs.enqueue(request), signal);
  acknowledged.runs.push(run);
  await waitForEnd(client, [run]);
}

/** Starts a run, and sends what it waits for. */
async function start(client: Client, threadId: string, requestId: string, contextRef: string, random: Random) {
  const input = `Do ${requestId}.`;
  const strategy = random.chance(0.25) ? randomStrategyRun(random, input) : undefined;
  const script = strategy ? undefined : randomScript(random, requestId);
  const work = strategy?.request ?? { model: script!.model };
  const request = { agent: builtInAgent, input, threadId, createThread: true, contextRef, ...work };
  const run = await persist(() => client.lanefold.runs.enqueue({ ...request, requestId, busy: 'wait' }), client.signal);
  client.acknowledged.runs.push(run);
  if (strategy) client.acknowledged.strategies.push({ threadId, id: run.id, result: strategy.result });
  const sending = sendEvents(client, script?.events ?? []);
  return { threadId, id: run.id, sending };
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
    return persist(() => threads.append(threadId, [note], { opId: value }), signal);
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

/** Forks the thread at one of its entries, and asks something there. */
async function continueOnFork(client: Client, threadId: string, name: string, random: Random): Promise<void> {
  const { lanefold, signal } = client;
  const { rev } = await persist(() => lanefold.threads.get(threadId), signal);
  // its only run may have been cancelled before it began
  if (rev === 0) return;
  const id = `${threadId}.fork-${name}`;
  const seq = random.int(0, rev - 1);
  await persist(() => lanefold.threads.fork(threadId, { id, atSeq: seq, repair: true }), signal);
  const run = await start(client, id, `${name}.fork`, 'default', random);
  await run.sending;
  await waitForEnd(client, [run]);
}

async function cancel({ lanefold, signal }: Client, run: RunKey, afterMs: number) {
  await delay(afterMs);
  await persist(() => lanefold.runs.cancel(run), signal);
}

interface StrategyRun {
  request: { model: string; strategy: string; strategyOptions: object };
  /** The result of an undisturbed run. */
  result: JsonObject | string;
}

/** A run of a random strategy on a scripted model, whose answers are the same for every question. */
function randomStrategyRun(random: Random, question: string): StrategyRun {
  const score = `0.${random.int(10, 95)}`;
  switch (random.pick(['tot', 'tot', 'got', 'trm', 'aot', 'cot'] as const)) {
    case 'tot':
      return treeOfThoughts(random, question);
    case 'got':
      return answering(random, question, got, { branches: 2, generations: 1 }, `1. Part ${score}.\n2. Whole.`);
    case 'trm':
      return answering(random, question, trm, { maxSupervisionSteps: 2 }, `Fair.\nSCORE: ${score}`);
    case 'aot':
      return answering(random, question, aot, {}, `Answer: ${score}`);
    case 'cot':
      return answering(random, question, cot, {}, `Answer: ${score}`);
  }
}

function answering(random: Random, question: string, strategy: Strategy, options: object, text: string): StrategyRun {
  const { finish } = simulate(strategy, { question, options, answer: () => text });
  return {
    request: {
      model: scripted([text], random.int(20, 300)),
      strategy: strategy.name,
      strategyOptions: options,
    },
    // a strategy that names no result has its last message as the result
    result: (finish!.result as JsonObject | string | undefined) ?? text,
  };
}

/** Each question, two branches at a time, may call a tool and then has two or three thoughts, which are also their scores. */
function treeOfThoughts(random: Random, question: string): StrategyRun {
  const list = Array.from({ length: random.int(2, 3) }, (_, i) => `${i + 1}. 0.${random.int(10, 95)}`).join('\n');
  const tool = { tool: random.pick(toolNames), args: { ms: random.int(5, 100) } };
  const turns = random.chance(0.7) ? [{ tools: [tool] }, list] : [list];
  const options = { maxDepth: random.int(1, 2), branches: 2, recordThoughts: random.chance(0.5) };
  const undisturbed = simulate(tot, {
    question,
    options,
    answer: ({ messages }) =>
      turns.length === 1 || messages.at(-1)?.role === 'tool'
        ? list
        : { toolCalls: [{ id: 'c', name: tool.tool, arguments: tool.args, arguments_raw: JSON.stringify(tool.args) }] },
  });
  return {
    request: {
      model: scripted(turns, random.int(20, 150)),
      strategy: 'tot',
      strategyOptions: options,
    },
    result: undisturbed.finish!.result as JsonObject,
  };
}
