import { randomBytes } from 'node:crypto';
import pLimit from 'p-limit';
import { defineAgent } from '../../agent/definition/agent.ts';
import type { LanefoldOptions } from '../../lanefold/options.ts';
import type { Lanefold } from '../../lanefold/lanefold.ts';
import { createLanefold } from '../../lanefold/create.ts';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { checkThread, Mismatches, type Mismatch, type ReplayReport } from './compare.ts';
import { createReplayModel, runsIn, systemPromptOf, type ReplayedRun } from './model.ts';
import { type Conversation, type Recording, recordingThreadId } from './recording.ts';
import { ToolError } from '../../agent/tools/tool-error.ts';
import { defineTool } from '../../agent/tools/define-tool.ts';
import type { Tool, ToolCallContext } from '../../agent/tools/tool.ts';

export interface ReplayOptions extends Pick<LanefoldOptions, 'databaseUrl' | 'directUrl' | 'redisUrl'> {
  /** Concurrent conversations, and runs; default 16. */
  concurrency?: number;
  /** Prepended to every thread id; default none. */
  prefix?: string;
  /** Called after each run; `total` is the number of runs of the replay. */
  onProgress?: (done: number, total: number) => void;
}

/**
 * Replays recorded conversations through the real queue, worker and database, with a private queue and worker. Each
 * user message becomes a run; the recorded turns replace the model, the recorded tool messages the tools. Compares the
 * prompt of every model call, and finally the projection of every thread, with the recording. Keeps the threads.
 *
 * @throws LanefoldError `thread_exists` if a thread id is taken, before anything is written; `invalid_id`
 */
export async function replay(recording: Recording, options: ReplayOptions = {}): Promise<ReplayReport> {
  const { concurrency = 16, prefix = '', onProgress } = options;
  const { conversations, name } = recording;
  const threadOf = ({ index }: Conversation) => recordingThreadId(prefix, name, index);
  conversations.forEach(threadOf);
  const mismatches = new Mismatches();
  const suffix = randomBytes(4).toString('hex');
  // A unique name, because the agent of another replay in the same database has other tools.
  const agent = defineAgent({
    name: `replay-${suffix}`,
    model: 'replay:0',
    tools: replayTools(conversations),
    cycleWarning: false,
    maxModelRetries: 0,
    toolMaxRetries: 0,
    maxToolResultBytes: Number.MAX_SAFE_INTEGER,
  });
  const lanefold = await createLanefold({
    databaseUrl: options.databaseUrl,
    directUrl: options.directUrl,
    redisUrl: options.redisUrl,
    agents: [agent],
    models: {
      replay: (id) => {
        const conversation = conversations[Number(id)]!;
        const thread = threadOf(conversation);
        return createReplayModel(conversation, (found) => mismatches.add({ thread, at: 'model_call', ...found }));
      },
    },
    queuePrefix: `lf-replay-${suffix}`,
    queueShards: 1,
    privateQueue: true,
  });
  try {
    await assertUnused(lanefold, conversations.map(threadOf));
    await lanefold.startWorker({ concurrency });
    const total = conversations.flatMap(runsIn).filter((run) => run.turns.length > 0).length;
    let runs = 0;
    const onRun = () => onProgress?.(++runs, total);
    const startedAt = performance.now();
    await each(conversations, concurrency, (conversation, signal) =>
      driveConversation(lanefold, conversation, {
        agent: agent.name,
        thread: threadOf(conversation),
        signal,
        onRun,
        onMismatch: (mismatch) => mismatches.add(mismatch),
      }),
    );
    const elapsedMs = performance.now() - startedAt;
    let modelCalls = 0;
    let toolCalls = 0;
    await each(conversations, concurrency, async (conversation) => {
      const checked = await checkThread(lanefold.contexts, threadOf(conversation), conversation);
      modelCalls += checked.modelCalls;
      toolCalls += checked.toolCalls;
      for (const mismatch of checked.mismatches) mismatches.add(mismatch);
    });
    return {
      threads: conversations.length,
      runs,
      modelCalls,
      toolCalls,
      mismatches: mismatches.count,
      runsPerSecond: runs / (elapsedMs / 1_000),
      elapsedMs: Math.round(elapsedMs),
      queue: lanefold.queueBackend,
      concurrency,
      firstMismatches: mismatches.first,
    };
  } finally {
    await lanefold.close();
  }
}

/** Processes `items` concurrently. After an error, starts no more and throws it once the running ones have settled. */
async function each<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const limit = pLimit(concurrency);
  const controller = new AbortController();
  const guarded = async (item: T) => {
    if (controller.signal.aborted) return;
    await work(item, controller.signal).catch((error: unknown) => controller.abort(error));
  };
  await Promise.all(items.map((item) => limit(guarded, item)));
  controller.signal.throwIfAborted();
}

async function assertUnused(lanefold: Lanefold, threads: string[]): Promise<void> {
  await each(threads, 8, async (thread) => {
    const used = await lanefold.threads.peek(thread).then(
      () => true,
      (error: unknown) => {
        if (isLanefoldError(error, 'thread_not_found')) return false;
        if (isLanefoldError(error, 'thread_erased')) return true;
        throw error;
      },
    );
    if (!used) return;
    throw new LanefoldError('thread_exists', `Thread ${thread} already exists; nothing was replayed.`, {
      hint: 'Use other thread ids with --prefix, for example --prefix again-.',
      details: { thread },
    });
  });
}

/**
 * Tools that return the recorded results. They find a result by the position of its call (tool context and iteration),
 * because recorded call ids are not unique, even within a conversation.
 */
function replayTools(conversations: readonly Conversation[]): Tool[] {
  const names = new Set(
    conversations.flatMap(({ messages }) =>
      messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map((call) => call.name) : [])),
    ),
  );
  const execute = (_: unknown, ctx: ToolCallContext): string => {
    const conversation = conversations[ctx.context['conversation'] as number];
    const run = conversation && runsIn(conversation).find(({ user }) => user === ctx.context['user']);
    const turn = run?.turns[ctx.iteration - 1];
    const result = turn === undefined ? undefined : conversation!.messages[turn + 1 + ctx.callIndex];
    if (result?.role !== 'tool')
      throw new ToolError('The recording has no result for this call.', { type: 'not_recorded', retryable: false });
    return result.content;
  };
  return [...names].sort().map((name) => defineTool({ name, input: { type: 'object' }, execute }));
}

interface DriveOptions {
  agent: string;
  thread: string;
  signal: AbortSignal;
  onRun: () => void;
  onMismatch: (mismatch: Mismatch) => void;
}

/**
 * Replays one conversation, run by run, in a new thread. Stops at a failed run, because nothing after it could match.
 */
async function driveConversation(
  lanefold: Lanefold,
  conversation: Conversation,
  { agent, thread, signal, onRun, onMismatch }: DriveOptions,
): Promise<void> {
  const systemPrompt = systemPromptOf(conversation);
  await lanefold.threads.create({ id: thread, systemPrompt });
  for (const run of runsIn(conversation)) {
    signal.throwIfAborted();
    if (run.turns.length === 0) {
      await lanefold.threads.append(thread, [{ message: { role: 'user', content: run.input } }]);
      continue;
    }
    const { ended, failed } = await work(run);
    onRun();
    if (ended !== run.ends) {
      onMismatch({ thread, at: 'run', message: run.user, field: 'end', expected: run.ends, received: ended });
    }
    if (failed) return;
  }

  async function work({ user, input, turns }: ReplayedRun): Promise<{ ended: string; failed: boolean }> {
    const accepted = await lanefold.runs.enqueue({
      agent,
      threadId: thread,
      requestId: `message-${user}`,
      input,
      model: `replay:${conversation.index}`,
      maxIterations: turns.length,
      toolContext: { conversation: conversation.index, user },
    });
    const run = await lanefold.runs.wait(accepted, { signal });
    if (run.status === 'completed') return { ended: run.terminationReason ?? run.status, failed: false };
    return { ended: `${run.status}: ${run.error?.message ?? run.terminationReason}`, failed: true };
  }
}
