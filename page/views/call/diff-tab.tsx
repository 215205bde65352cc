import { get, v1 } from '../../api/client.ts';
import type { Message, ModelCall } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { MessageBody } from '../../parts/message.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { ChangedWords } from '../../parts/changed-words.tsx';
import { diffMessages, type Change } from '../../parts/diff.ts';

/** The differences between this call and the previous one on its lane. */
export function DiffTab({ call }: { call: ModelCall }) {
  const loaded = useLoaded<[ModelCall | null, Compare]>(
    (signal) =>
      Promise.all([
        call.previous_call_id
          ? get<ModelCall>(v1('threads', call.thread_id, 'calls', call.previous_call_id), {}, signal)
          : null,
        import('../../parts/compare.ts'),
      ]),
    [call.llm_call_id],
  );
  if (loaded.error) return <Failure error={loaded.error} />;
  if (loaded.data === undefined) return <Loading />;
  const [previous, compare] = loaded.data;
  if (previous === null) return <Empty>This is the first call on its lane.</Empty>;
  return (
    <ol class="diff plain">
      {diffMessages(compare.diffArrays, previous.messages, call.messages).map((change, index) => (
        <li key={index} class={change.kind}>
          <ChangeBody change={change} compare={compare} />
        </li>
      ))}
    </ol>
  );
}

type Compare = typeof import('../../parts/compare.ts');

function ChangeBody({ change, compare }: { change: Change; compare: Compare }) {
  if (change.kind === 'same') {
    const { length } = change.messages;
    return (
      <span class="muted">
        {length} {length === 1 ? 'message' : 'messages'} unchanged
      </span>
    );
  }
  if (change.kind === 'changed')
    return (
      <>
        <Sign kind="changed" role={change.after.role} />
        <ChangedWords
          before={plain(change.before)}
          after={plain(change.after)}
          words={compare.diffWordsWithSpace}
          mono={/^\s*[[{]/.test(plain(change.after))}
        />
      </>
    );
  return (
    <>
      <Sign kind={change.kind} role={change.message.role} />
      <MessageBody message={change.message} />
    </>
  );
}

const signs = { added: '+ added', removed: '− removed', changed: '± changed' };

const Sign = ({ kind, role }: { kind: keyof typeof signs; role: string }) => (
  <div class="entry-head">
    <span class="sign">{signs[kind]}</span>
    <span class="role">{role}</span>
  </div>
);

/** A message as text, without its role. */
const plain = ({ role: _, content, ...rest }: Message): string =>
  (typeof content === 'string' ? content : JSON.stringify(content, null, 2)) +
  (Object.keys(rest).length > 0 ? `\n${JSON.stringify(rest, null, 2)}` : '');
