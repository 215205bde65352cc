import { assertStorable } from '../../../base/checks/values.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { TenantLibrary } from '../../../features/library/library.ts';
import type { RunSnapshot } from '../../../runs/operations/runs/run-snapshot.ts';
import { assertResult } from '../../../runs/operations/waits/payload.ts';
import { errorMessage, renderResult } from '../../../agent/tools/outcome.ts';
import type { AgUiResume } from '../../../runs/formats/ag-ui/content.ts';
import {
  answerableOf,
  interruptIdOf,
  isClientCall,
  readInterruptId,
  type Answerable,
} from '../../../runs/formats/ag-ui/tool-round.ts';
import { callName } from '../../../base/checks/call-name.ts';
import { assertNoneLeft, ended, invalid, notFound, type AgUiRequest } from './request.ts';

/** An entry of `resume`, checked against the call that it is about. */
interface Answer {
  id: string;
  kind: 'approval' | 'event';
  round: number;
  index: number;
  open: boolean;
  /** For an approval. */
  approved: boolean;
  reason: string | undefined;
  /** For an event: what the call gets. */
  given: { result: unknown } | { error: string };
}

const cancelled = 'The user gave no answer.';

/** What `resume` answers. */
interface Answers {
  run: RunSnapshot;
  answers: readonly Answer[];
  /** Whether any of the interrupts is open. */
  continued: boolean;
}

/**
 * Reads the answers to the interrupts of a run. `cancelled` for one that has ended says nothing: clients have to name
 * each interrupt that they know of.
 *
 * @param active the active run of the thread
 * @returns undefined if nothing is said
 * @throws LanefoldError `interrupt_not_found`, `interrupts_open`, `invalid_input`, `forbidden`
 */
export async function readAnswers(
  lanefold: TenantLibrary,
  entries: readonly AgUiResume[],
  active: RunSnapshot | undefined,
  { threadId, assertMay }: AgUiRequest,
): Promise<Answers | undefined> {
  if (entries.length === 0) return undefined;
  const run = await findRun(lanefold, threadId, entries, active);
  const open = answerableOf(run);
  const named = new Set(entries.map(({ interruptId }) => interruptId));
  if (named.size < entries.length) throw invalid('An interrupt is answered twice.');
  const answers = entries.flatMap((entry) => {
    const answer = readAnswer(run, open, entry);
    return answer.open || entry.status !== 'cancelled' ? [answer] : [];
  });
  if (answers.length === 0) return undefined;
  const continued = answers.some((answer) => answer.open);
  // Answers that were all given before are a repeat, even if the run waits for something else by now. Else the active run may be another
  // one, whose interrupts are then not answered either.
  if (active && continued) assertNoneLeft(active.id, answerableOf(active), named);
  // whether an approval is open may change before it is decided
  if (answers.some(({ kind }) => kind === 'approval')) assertMay('approve');
  const events = open.filter((wait) => wait.kind === 'event' && named.has(interruptIdOf(run.id, wait)));
  if (events.some((wait) => !isClientCall(run.id, wait))) assertMay('resolve');
  return { run, answers, continued };
}

/**
 * Gives all answers or no answer. Repeating an answer changes nothing.
 *
 * @throws LanefoldError `interrupt_ended` for one that differs from the first answer
 */
export async function giveAnswers(
  lanefold: TenantLibrary,
  { run, answers }: Answers,
  { by, answering }: AgUiRequest,
): Promise<void> {
  // answers that write come after all that can be refused
  for (const answer of answers) if (!answer.open) await assertSame(lanefold, run, answer);
  for (const answer of answers) if (answer.open) await give(run, answer, { by, answering });
}

async function findRun(
  lanefold: TenantLibrary,
  threadId: string,
  entries: readonly AgUiResume[],
  active: RunSnapshot | undefined,
): Promise<RunSnapshot> {
  const ids = new Set(entries.map(({ interruptId }) => readInterruptId(interruptId)?.runId));
  const [id] = ids;
  if (id === undefined || ids.size > 1) throw notFound(entries[0]!.interruptId);
  if (id === active?.id) return active;
  return lanefold.runs.get({ threadId, id }).catch((error: unknown) => {
    const missing = isLanefoldError(error, 'run_not_found') || isLanefoldError(error, 'invalid_id');
    throw missing ? notFound(entries[0]!.interruptId) : error;
  });
}

function readAnswer(run: RunSnapshot, open: readonly Answerable[], entry: AgUiResume): Answer {
  const { interruptId: id, status, payload } = entry;
  const { kind, round, index } = readInterruptId(id)!;
  if (!run.toolCalls.some((call) => call.round === round && call.index === index)) throw notFound(id);
  const isOpen = open.some((wait) => wait.kind === kind && callName(wait) === callName({ round, index }));
  const decided = status === 'cancelled' ? { approved: false, reason: cancelled } : payload;
  const { approved, reason, ...more } = Object(kind === 'approval' ? decided : {}) as Record<string, unknown>;
  if (kind === 'approval') {
    if (typeof approved !== 'boolean' || (reason !== undefined && typeof reason !== 'string'))
      throw invalid(`The payload for ${id} is not { approved: true or false, reason? }.`);
    if (Object.keys(more).length > 0)
      throw invalid(`The payload for ${id} has more than approved and reason; arguments cannot be edited.`);
  }
  assertStorable({ reason }, 'The reason');
  if (kind === 'event') assertResult(payload, `The payload for ${id}`);
  return {
    id,
    kind,
    round,
    index,
    open: isOpen,
    approved: approved === true,
    reason: typeof reason === 'string' ? reason : undefined,
    given: status === 'cancelled' ? { error: cancelled } : { result: payload ?? null },
  };
}

/** Compares an answer with the one that ended its interrupt. @throws LanefoldError `interrupt_ended` if they differ */
async function assertSame(lanefold: TenantLibrary, run: RunSnapshot, answer: Answer): Promise<void> {
  const { id, kind, approved, given } = answer;
  const call = run.toolCalls.find((made) => callName(made) === callName(answer));
  const same =
    kind === 'event'
      ? contentOf(given) === call?.result
      : (await decisionOf(lanefold, run, answer)) === (approved ? 'approved' : 'denied');
  if (!same) throw ended(id);
}

async function give(
  run: RunSnapshot,
  { kind, round, index, approved, reason, given }: Answer,
  { by, answering }: Pick<AgUiRequest, 'by' | 'answering'>,
): Promise<void> {
  const who = by === undefined ? {} : { by };
  const call = callName({ round, index });
  const action = kind === 'event' ? 'resolveWait' : approved ? 'approveToolCall' : 'denyToolCall';
  const { runs, waits } = answering(action, run.id);
  try {
    if (kind === 'event') await waits.resolve(run, call, { ...given, ...who });
    else {
      const decide = approved ? runs.approve : runs.deny;
      await decide(run, call, { ...who, ...(reason === undefined ? {} : { reason }) });
    }
  } catch (error) {
    // it was open a moment ago: the first answer counts, and the stream shows it
    if (!isLanefoldError(error, 'already_decided') && !isLanefoldError(error, 'not_awaiting_approval')) throw error;
  }
}

/** What the model reads of an answer to an event. */
const contentOf = (given: Answer['given']): string =>
  'error' in given
    ? errorMessage({ type: 'overridden', message: given.error, retryable: false }).content
    : renderResult(given.result).content;

const eventsAtOnce = 500;

/** What was decided about a call; undefined if nothing was, or if the trace no longer says so. */
async function decisionOf(
  lanefold: TenantLibrary,
  run: RunSnapshot,
  call: { round: number; index: number },
): Promise<'approved' | 'denied' | undefined> {
  const place = callName(call);
  for (let after = -1; ;) {
    const page = await lanefold.runs.events(run, { after, limit: eventsAtOnce });
    const decided = page.find(({ kind, data }) => kind === 'approval_decided' && callName(data) === place);
    if (decided) return decided.data['decision'] as 'approved' | 'denied';
    if (page.length < eventsAtOnce) break;
    after = page.at(-1)!.eventSeq;
  }
  // a trace may be dropped before its run
  return run.toolCalls.some((made) => callName(made) === place && made.status === 'denied') ? 'denied' : undefined;
}
