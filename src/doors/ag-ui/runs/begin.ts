import { idGrammar } from '../../../base/checks/ids.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { isLanefoldError, LanefoldError } from '../../../base/errors.ts';
import type { TenantLibrary } from '../../../features/library/library.ts';
import type { AgUiSnapshot } from '../../../runs/operations/threads/ag-ui-snapshot.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';
import { refsOf as toRefs, toQuestion } from '../../../runs/formats/ag-ui/content.ts';
import { answerableOf, isClientCall } from '../../../runs/formats/ag-ui/tool-round.ts';
import { sameJson } from '../../../runs/formats/ag-ui/nodes.ts';
import type { AgUiMessage, AgUiUserMessage } from '../../../runs/formats/ag-ui/event.ts';
import { resultsIn, type ClientResult, requestIdOf, type AgUiRequest, assertNoneLeft, type Busy } from './request.ts';
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
  /** The lane of the conversation; undefined: the active one. */
  contextRef: string | undefined;
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
  const place = await placeOf(lanefold, request);
  const before = await findSnapshot(lanefold, request, place);
  const active =
    before.activeRunId === null ? undefined : await lanefold.runs.get({ threadId, id: before.activeRunId });
  const begun = {
    contextRef: place.contextRef,
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
  const { duplicate, contextRef, ...run } = await ask(lanefold, request, question, place);
  const asks = { ...begun, contextRef, run: refOf(run) };
  // the same request, sent twice at once: the thread has moved since it was read
  if (duplicate) return { ...asks, joins: true, before: await findSnapshot(lanefold, request, { contextRef }) };
  return { ...asks, fresh: true, known: known.slice(0, -1), question };
}

/** Where a request continues the conversation. */
interface Place {
  /** The lane; undefined: the active one. */
  contextRef: string | undefined;
  /** The last entry of the run that its run follows on a branch; undefined: no branch. */
  afterSeq?: number | undefined;
}

/**
 * A question that names the run which it follows begins a branch after that run, unless the conversation ends with it. Sent
 * again, it is on the branch that it has begun.
 *
 * @throws LanefoldError `run_not_found`, `run_active`
 */
async function placeOf({ threads }: TenantLibrary, { threadId, contextRef, input }: AgUiRequest): Promise<Place> {
  const { parentRunId, runId, messages, resume = [] } = input;
  if (parentRunId === undefined || resume.length > 0 || messages.at(-1)?.role !== 'user') return { contextRef };
  const find = (run: string) => threads.placeOfRun(threadId, run, contextRef).catch(unlessNoThread);
  // the client's name for a run, or ours
  const parent = (await find(requestIdOf(parentRunId))) ?? (idGrammar.test(parentRunId) && (await find(parentRunId)));
  // read last: the parent is no longer the newest run once the same request, sent twice at once, is accepted
  const asked = await find(requestIdOf(runId));
  if (asked) return { contextRef: asked.contextRef };
  if (!parent) throw noParent(parentRunId);
  // a run that ended before it began left nothing to follow
  if (parent.isNewest || (parent.ended && parent.seq === null)) return { contextRef };
  if (!parent.ended) throw parentActive(parentRunId);
  return { contextRef: parent.contextRef, afterSeq: parent.seq! };
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

async function ask(
  lanefold: TenantLibrary,
  request: AgUiRequest,
  question: AgUiUserMessage,
  { contextRef, afterSeq }: Place,
): Promise<RunHandle & Pick<Place, 'contextRef'>> {
  const { agent, threadId, input, busy } = request;
  const asked = { agent, ...toQuestion(question, input.context) };
  const requestId = requestIdOf(input.runId);
  const accept = async (how: Busy, active?: string) => {
    if (afterSeq === undefined) {
      const options = { ...asked, threadId, requestId, createThread: true, busy: how } as const;
      return { ...(await request.enqueue(options, active)), contextRef };
    }
    // the conversation of a client that keeps to one lane is that of this lane
    const show = request.contextRef === undefined;
    const place = { afterSeq, contextRef: contextRef!, show };
    const made = await request.branch({ ...asked, ...place, opId: requestId, busy: how }, active);
    return { ...made.run!, contextRef: made.contextRef };
  };
  if (busy !== 'interrupt') return accept(busy);
  try {
    // interrupts nothing that a question waits for anyway, such as a compaction
    return await accept('reject');
  } catch (error) {
    if (!isLanefoldError(error, 'thread_busy')) throw error;
  }
  const { activeRunId } = await lanefold.threads.peek(threadId);
  return accept(busy, activeRunId ?? undefined);
}

const refOf = ({ threadId, id }: RunRef): RunRef => ({ threadId, id });

const findSnapshot = async (
  { threads }: TenantLibrary,
  { threadId }: AgUiRequest,
  { contextRef, afterSeq }: Place,
): Promise<AgUiSnapshot> => {
  const before = afterSeq === undefined ? undefined : afterSeq + 1;
  return (await threads.agUiSnapshot(threadId, omitUndefined({ contextRef, before })).catch(unlessNoThread)) ?? nothing;
};

function unlessNoThread(error: unknown): undefined {
  if (!isLanefoldError(error, 'thread_not_found')) throw error;
}

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

const noParent = (id: string): LanefoldError =>
  new LanefoldError('run_not_found', `The thread has no run ${id.slice(0, 200)} that the question could follow.`, {
    hint: 'Nothing was written. Name the runId of an earlier question as parentRunId, or leave it out.',
  });

const parentActive = (id: string): LanefoldError =>
  new LanefoldError(
    'run_active',
    `The run ${id.slice(0, 200)} has not ended, and the conversation goes on elsewhere.`,
    {
      hint: 'Nothing was written. Ask when it has ended, or leave parentRunId out.',
    },
  );

const otherRequest = (runId: string): LanefoldError =>
  new LanefoldError('idempotency_mismatch', `The runId ${runId.slice(0, 200)} belongs to another request.`, {
    hint: 'Nothing was written. Use a new runId for each request.',
  });
