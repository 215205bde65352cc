import { get, v1 } from '../../api/client.ts';
import type { Message } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import type { ThreadState } from '../../state/thread.ts';
import { MessageList } from '../call/message-list.tsx';

interface Row extends Message {
  seq: number;
}

/** The projection of a lane at the moment shown: what a call made then would send. */
export function ContextTab({ state, lane }: { state: ThreadState; lane: string }) {
  const at = state.at.value;
  const context = useLoaded<{ messages: Row[] }>(
    (signal) => get(v1('threads', state.id, 'contexts', lane), { at_seq: at }, signal),
    [state.id, lane, at, at === null ? state.head.value : 0],
  );
  if (context.error) return <Failure error={context.error} />;
  if (!context.data) return <Loading />;
  const { messages } = context.data;
  if (messages.length === 0) return <Empty>The model sees nothing on this lane yet.</Empty>;
  return (
    <MessageList
      messages={messages}
      sources={messages.map(({ seq }) => seq)}
      sourceHref={(seq) => `#/threads/${encodeURIComponent(state.id)}?at=${seq}`}
    />
  );
}
