import { get, v1 } from '../../api/client.ts';
import type { Context, ExplainedMessage } from '../../api/types.ts';
import { Empty, Failure, Loading, Tag } from '../../parts/basics.tsx';
import { amount } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { useLoaded, type Loaded } from '../../state/use-loaded.ts';
import type { ThreadState } from '../../state/thread.ts';
import { MessageList } from '../call/message-list.tsx';

/** The messages of a lane that a call at the displayed moment would send under the thread's policy, and why. */
export const ContextTab = ({ state, lane }: { state: ThreadState; lane: string }) => (
  <ContextMessages state={state} context={useContext(state, lane)} />
);

export type LoadedContext = Loaded<Required<Context>>;

export function useContext(state: ThreadState, lane: string): LoadedContext {
  const at = state.at.value;
  // the context window of the model is the budget
  const model = state.runs.value[0]?.model;
  return useLoaded<Required<Context>>(
    (signal) => get(v1('threads', state.id, 'contexts', lane), { at_seq: at, explain: 'true', model }, signal),
    [state.id, lane, model, at, at === null ? state.head.value : 0],
  );
}

interface ContextProps {
  state: ThreadState;
  context: LoadedContext;
  /** How many messages at the beginning the context beside this one has, too. */
  common?: number;
}

export function ContextMessages({ state, context, common }: ContextProps) {
  if (context.error) return <Failure error={context.error} />;
  if (!context.data) return <Loading />;
  const { messages, explain, meta } = context.data;
  if (explain.length === 0) return <Empty>The model sees nothing on this lane yet.</Empty>;
  const entry = (seq: number) => href('threads', state.id, { at: String(seq) });
  return (
    <>
      <details class="fold">
        <summary>
          Why: {meta.entries_included} of {meta.entries_total} messages are sent, ≈ {amount(meta.estimated_tokens)}{' '}
          tokens
          {meta.budget !== null && ` of ${amount(meta.budget)}`}
        </summary>
        <Explained messages={explain} entry={entry} />
      </details>
      <MessageList
        messages={messages}
        sources={messages.map(({ seq }) => (seq < 0 ? null : seq))}
        sourceHref={entry}
        common={common}
      />
    </>
  );
}

/** Every message of the lane: whether the policy includes it, why, and its size in tokens. */
const Explained = ({ messages, entry }: { messages: ExplainedMessage[]; entry: (seq: number) => string }) => (
  <table class="list">
    <thead>
      <tr>
        <th scope="col">Message</th>
        <th scope="col">Sent</th>
        <th scope="col">Why</th>
        <th scope="col" class="num">
          Tokens
        </th>
      </tr>
    </thead>
    <tbody>
      {messages.map(({ ordinal, seq, role, included, reason, tokens }) => (
        <tr key={ordinal}>
          <th scope="row">{seq < 0 ? role : <a href={entry(seq)}>{`${role} #${seq}`}</a>}</th>
          <td>
            <span class={included ? 'status good' : 'status idle'}>{included ? 'in' : 'out'}</span>
          </td>
          <td>
            <Tag>{reason.replaceAll('_', ' ')}</Tag>
          </td>
          <td class="num">{amount(tokens)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
