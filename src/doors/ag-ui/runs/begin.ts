import { omitUndefined } from '../../../base/common/json.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import type { TenantLibrary } from '../../../features/library/library.ts';
import type { AgUiSnapshot } from '../../../runs/operations/threads/ag-ui-snapshot.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { refsOf as toRefs, toQuestion } from '../../../runs/formats/ag-ui/content.ts';
import { answerableOf, isClientCall } from '../../../runs/formats/ag-ui/tool-round.ts';
import { sameJson } from '../../../runs/formats/ag-ui/nodes.ts';
import type { AgUiMessage, AgUiUserMessage } from '../../../runs/formats/ag-ui/event.ts';
import { resultsIn, type ClientResult, requestIdOf, type AgUiRequest, assertNoneLeft } from './request.ts';
import { giveAnswers, readAnswers } from './resume.ts';

/** What a response is about: the run it follows, and where its stream begins. */
export interface Begun {
  /** Undefined: the thread has nothing to follow. */
  run: RunRef | undefined;
  /** The run begins with this request, so its stream is shown from its first event. */
  fresh: boolean;
  /** The request continues a run that had stopped, whose tokens so far were reported then. */
  continued: boolean;
  /** The client may have seen part of this run already, so it gets all messages again. */
  joins: boolean;
  /** The thread before the request. */
  before: AgUiSnapshot;
  /** The messages of the client without those that the request adds. */
  known: readonly AgUiMessage[];
  /** The question that the request adds. */
  question: AgUiUserMessage | undefined;
  /** The calls whose results the request adds. */
  answered: ReadonlySet<string>;
}

const nothing: AgUiSnapshot = {
  messages: [],
  state: {},
  questions: [],
  waitingRuns: [],
  complete: true,
  rev: 0,
  eventSeq: -1,
  activeRunId: null,
};

/** Carries out what a request asks for: answers interrupts or calls, asks a question, or only looks. */
export async function beginRun(lanefold: TenantLibrary, request: AgUiRequest): Promise<Begun> {
  const { input, threadId } = request;
  const { messages, resume = [] } = input;
  const before = await findSnapshot(lanefold, request);
  const active =
    before.activeRunId === null ? undefined : await lanefold.runs.get({ threadId, id: before.activeRunId });
  const begun = {
    before,
    known: messages,
    question: undefined,
    answered: new Set<string>(),
    fresh: false,
    continued: false,
    joins: false,
  };
  const asked = before.questions.find(
    ({ runId, requestId }) => runId !== null && requestId === requestIdOf(input.runId),
  );
  const answers = await readAnswers(lanefold, resume, active, request);
  if (answers) {
    if (asked) throw otherRequest(input.runId);
    await giveAnswers(lanefold, answers, request);
    return { ...begun, continued: answers.continued, run: refOf(answers.run) };
  }
  if (asked) {
    await assertSame(lanefold, asked.runId!, asked.message, request);
    return { ...begun, joins: true, run: { threadId, id: asked.runId! } };
  }
  const open = active ? answerableOf(active) : [];
  const results = active ? resultsIn(active, open, before.messages, messages) : [];
  const known = messages.filter((message) => !results.some((result) => result.message === message));
  const question = messages.at(-1);
  if (question?.role !== 'user' || before.messages.some(({ id }) => id === question.id)) {
    if (results.length === 0) return { ...begun, joins: true, run: active && refOf(active) };
    // where another result was first, the client gets that one
    const joins = !(await giveResults(active!, results, request));
    const answered = new Set(results.map(({ message }) => message.toolCallId));
    return { ...begun, known, answered, joins, continued: true, run: refOf(active!) };
  }
  if (active) {
    const ofOthers = open.filter((wait) => !isClientCall(active.id, wait));
    assertNoneLeft(active.id, ofOthers, new Set());
    // a refused question leaves everything as it is
    if (request.busy !== 'reject') await giveResults(active, results, request);
  }
  const { duplicate, ...run } = await ask(lanefold, request, question);
  // the same request, sent twice at once: the thread has moved since it was read
  if (duplicate) return { ...begun, joins: true, before: await findSnapshot(lanefold, request), run: refOf(run) };
  return { ...begun, fresh: true, known: known.slice(0, -1), question, run: refOf(run) };
}

/** Gives calls the results of the client. @returns whether each of them was the first */
async function giveResults(
  run: RunRef,
  results: readonly ClientResult[],
  { by, answering }: AgUiRequest,
): Promise<boolean> {
  let first = true;
  const { waits } = answering('resolveWait', run.id);
  for (const { wait, given, id } of results) {
    const extraRefs = id === undefined ? undefined : toRefs({ message_id: id });
    const options = { ...given, ...omitUndefined({ by, extraRefs }) };
    const { resolved } = await waits.resolve(run, wait.call, options);
    first &&= resolved;
  }
  return first;
}

async function ask(lanefold: TenantLibrary, request: AgUiRequest, question: AgUiUserMessage): Promise<RunHandle> {
  const { agent, threadId, input, busy, enqueue } = request;
  const options = {
    agent,
    threadId,
    createThread: true,
    requestId: requestIdOf(input.runId),
    ...toQuestion(question, input.context),
  };
  if (busy !== 'interrupt') return enqueue({ ...options, busy });
  try {
    // interrupts nothing that a question waits for anyway, such as a compaction
    return await enqueue({ ...options, busy: 'reject' });
  } catch (error) {
    if (!isLanefoldError(error, 'thread_busy')) throw error;
  }
  const { activeRunId } = await lanefold.threads.peek(threadId);
  return enqueue({ ...options, busy }, activeRunId ?? undefined);
}

const refOf = ({ threadId, id }: RunRef): RunRef => ({ threadId, id });

const findSnapshot = (lanefold: TenantLibrary, { threadId, contextRef }: AgUiRequest): Promise<AgUiSnapshot> =>
  lanefold.threads.agUiSnapshot(threadId, omitUndefined({ contextRef })).catch((error: unknown) => {
    if (isLanefoldError(error, 'thread_not_found')) return nothing;
    throw error;
  });

/** A run id stands for one question to one agent. @throws LanefoldError `idempotency_mismatch` */
async function assertSame(
  lanefold: TenantLibrary,
  id: string,
  asked: AgUiUserMessage,
  { agent, threadId, input }: AgUiRequest,
): Promise<void> {
  const given = input.messages.findLast(({ role }) => role === 'user') as AgUiUserMessage | undefined;
  const same = given && given.id === asked.id && sameJson(given.content, asked.content);
  const run = await lanefold.runs.get({ threadId, id });
  if (!same || run.agent !== agent) throw otherRequest(input.runId);
}

const otherRequest = (runId: string): LanefoldError =>
  new LanefoldError('idempotency_mismatch', `The runId ${runId.slice(0, 200)} belongs to another request.`, {
    hint: 'Nothing was written. Use a new runId for each request.',
  });
