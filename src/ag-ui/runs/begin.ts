import { omitUndefined } from '../../common/omit-undefined.ts';
import { isLanefoldError, LanefoldError } from '../../errors.ts';
import type { TenantLibrary } from '../../library/library.ts';
import type { AgUiSnapshot } from '../../library/threads/ag-ui-snapshot.ts';
import type { RunRef } from '../../store/run/run.ts';
import { toQuestion } from '../content.ts';
import { answerableOf, isClientCall } from '../interrupts.ts';
import { sameJson } from '../json-patch.ts';
import type { AgUiMessage, AgUiUserMessage } from '../message.ts';
import { resultsIn } from './client-results.ts';
import { assertTools, requestIdOf, type AgUiRequest } from './request.ts';
import { assertNoneLeft } from './interrupt-errors.ts';
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
  ...{ messages: [], state: {}, questions: [], complete: true, eventSeq: -1, activeRunId: null },
};

/** Carries out what a request asks for: answers interrupts or calls, asks a question, or only looks. */
export async function beginRun(lanefold: TenantLibrary, request: AgUiRequest): Promise<Begun> {
  const { input, agent, threadId } = request;
  const { messages, resume = [] } = input;
  assertTools(request);
  const before = await findSnapshot(lanefold, request);
  const active =
    before.activeRunId === null ? undefined : await lanefold.runs.get({ threadId, id: before.activeRunId });
  const begun = {
    ...{ before, known: messages, question: undefined, answered: new Set<string>() },
    ...{ fresh: false, continued: false, joins: false },
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
  if (results.length > 0) {
    const by = request.by === undefined ? {} : { by: request.by };
    for (const { wait, given } of results) {
      const { waits } = request.answering('releaseWait', active!.id);
      await waits.release(active!, wait.call, { ...given, ...by });
    }
    const answered = new Set(results.map(({ message }) => message.toolCallId));
    const known = messages.filter(({ id }) => !results.some(({ message }) => message.id === id));
    return { ...begun, known, answered, continued: true, run: refOf(active!) };
  }
  const question = messages.at(-1);
  if (question?.role !== 'user' || before.messages.some(({ id }) => id === question.id))
    return { ...begun, joins: true, run: active && refOf(active) };
  if (active)
    assertNoneLeft(
      active.id,
      open.filter((wait) => !isClientCall(active.id, wait)),
      new Set(),
    );
  const { duplicate, ...run } = await request.enqueue({
    ...{ agent, threadId, createThread: true, requestId: requestIdOf(input.runId) },
    ...toQuestion(question, input.context),
  });
  // the same request, sent twice at once: the thread has moved since it was read
  if (duplicate) return { ...begun, joins: true, before: await findSnapshot(lanefold, request), run: refOf(run) };
  return { ...begun, fresh: true, known: messages.slice(0, -1), question, run: refOf(run) };
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
