import { get, v1 } from '../../api/client.ts';
import type { EntryPage, EvalItem, Message, ModelCall, RunSnapshot } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { diffMessages, type Change } from '../../parts/diff.ts';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import type { ComponentChildren } from 'preact';
import { ChangedWords, type Words } from '../../parts/changed-words.tsx';
import { clip } from '../../parts/format.ts';
import { MessageBody, laidOut } from '../../parts/message.tsx';

const maxEntries = 1_000;

interface Sent {
  item: EvalItem;
  run: RunSnapshot;
  /** The call that gave the last answer of the run; undefined if no call was answered. */
  call: ModelCall | undefined;
}

/** What the last model call of two runs was sent, side by side, with what differs marked. */
export function Contexts({ items }: { items: [EvalItem, EvalItem] }) {
  const loaded = useLoaded(
    async (signal) => {
      const [before, after, compare] = await Promise.all([
        sentIn(items[0], signal),
        sentIn(items[1], signal),
        import('../../parts/compare.ts'),
      ]);
      return { before, after, compare };
    },
    items.map(({ run_id: run }) => run),
  );
  if (loaded.error) return <Failure error={loaded.error} />;
  if (!loaded.data) return <Loading />;
  const { before, after, compare } = loaded.data;
  const both = before?.call && after?.call;
  return (
    <>
      <div class="answers">
        <Head variant={items[0].variant} sent={before} />
        <Head variant={items[1].variant} sent={after} />
      </div>
      {both && (
        <SideBySide
          changes={diffMessages(compare.diffArrays, messagesOf(before.call!), messagesOf(after.call!))}
          words={compare.diffWordsWithSpace}
        />
      )}
    </>
  );
}

function Head({ variant, sent }: { variant: string; sent: Sent | undefined }) {
  if (!sent) return <Empty>The run of {variant} is gone.</Empty>;
  const { run, call } = sent;
  const most = run.max_iterations;
  const asExpected = run.termination_reason === 'final_answer';
  return (
    <p class="prose">
      <strong>{variant}</strong>: model call {most ? `${Math.min(run.iteration, most)} of ${most}` : run.iteration}
      {run.termination_reason !== null && (
        <>
          , ended by <span class={asExpected ? '' : 'status bad'}>{run.termination_reason}</span>
        </>
      )}
      .{' '}
      {call ? (
        <a href={href('threads', run.thread_id, 'calls', call.llm_call_id)}>What was sent to {variant}</a>
      ) : (
        'The log has no answer of the model.'
      )}
    </p>
  );
}

/** Reads the last answered call of the run of an item. */
async function sentIn(item: EvalItem, signal: AbortSignal): Promise<Sent | undefined> {
  const { thread_id: threadId, run_id: runId } = item;
  if (threadId === null || runId === null) return undefined;
  const query = { kind: 'ai_message', limit: maxEntries };
  const [run, entries] = await Promise.all([
    get<RunSnapshot>(v1('threads', threadId, 'runs', runId), {}, signal),
    get<EntryPage>(v1('threads', threadId, 'entries'), query, signal),
  ]);
  const last = entries.data.findLast(({ run_id: of, refs }) => of === runId && typeof refs['llm_call_id'] === 'string');
  const id = last?.refs['llm_call_id'] as string | undefined;
  const call = id === undefined ? undefined : await get<ModelCall>(v1('threads', threadId, 'calls', id), {}, signal);
  return { item, run, call };
}

/** Messages without the ids of calls, which providers choose anew each time, so that every tool round would differ. */
const messagesOf = ({ messages }: ModelCall): Message[] =>
  messages.map((message) => {
    const { tool_call_id: _, tool_calls: calls, ...rest } = message as Message;
    const made = calls?.map(({ name, arguments: args }) => ({ id: '', name, arguments: args }));
    return { ...rest, ...(made ? { tool_calls: made } : {}) } as Message;
  });

const previewChars = 200;

/** Two contexts in two columns: what is the same across both, and what differs in the column that has it. */
export const SideBySide = ({ changes, words }: { changes: Change[]; words: Words }) => (
  <ol class="diff plain sides">
    {changes.map((change, index) => (
      <Row key={index} change={change} words={words} />
    ))}
  </ol>
);

function Row({ change, words }: { change: Change; words: Words }) {
  if (change.kind === 'same')
    return (
      <li>
        {change.messages.map((message, index) => (
          <p key={index} class="muted">
            <span class="role">{message.role}</span> {clip(textOf(message), previewChars)}
          </p>
        ))}
      </li>
    );
  if (change.kind === 'changed') {
    const texts = { before: textOf(change.before), after: textOf(change.after), words, mono: isCode(change.after) };
    return (
      <li class="changed pair">
        <Side message={change.before}>
          <ChangedWords {...texts} side="before" />
        </Side>
        <Side message={change.after}>
          <ChangedWords {...texts} side="after" />
        </Side>
      </li>
    );
  }
  const { role } = change.message;
  const own = (
    <Side message={change.message}>
      <MessageBody message={change.message} />
    </Side>
  );
  return (
    <li class={`${change.kind} pair`}>
      {change.kind === 'removed' ? own : <Missing role={role} />}
      {change.kind === 'removed' ? <Missing role={role} /> : own}
    </li>
  );
}

const Side = ({ message, children }: { message: Message; children: ComponentChildren }) => (
  <div>
    <span class="role">{message.role}</span> {message.name && <span class="tool-name">{message.name}</span>}
    {children}
  </div>
);

const Missing = ({ role }: { role: string }) => (
  <div class="muted">
    <span class="role">{role}</span> not sent
  </div>
);

/** Whether a message is JSON, or calls tools. */
const isCode = ({ content, tool_calls: calls }: Message): boolean =>
  !!calls?.length || typeof content !== 'string' || laidOut(content).mono;

/** The content, then the tool calls as a program would write them. */
const textOf = ({ content, tool_calls: calls }: Message): string =>
  [
    typeof content === 'string' ? content : JSON.stringify(content),
    ...(calls ?? []).map(({ name, arguments: args }) => `${name}(${JSON.stringify(args)})`),
  ]
    .filter((text) => text !== '')
    .join('\n');
