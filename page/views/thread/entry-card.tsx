import type { Entry, Message } from '../../api/types.ts';
import { Tag, Time } from '../../parts/basics.tsx';
import { MessageBody } from '../../parts/message.tsx';
import { JsonText } from '../../parts/text.tsx';
import { href } from '../../state/route.ts';
import { describeEntry } from './describe-entry.ts';

/** One entry of the log: a message, or a mark where something about the context changed. */
export const EntryCard = ({ entry, threadId }: { entry: Entry; threadId: string }) =>
  entry.kind === 'ai_message' ? <MessageCard entry={entry} threadId={threadId} /> : <Mark entry={entry} />;

function MessageCard({ entry, threadId }: { entry: Entry; threadId: string }) {
  const message = entry.payload as unknown as Message;
  const callId = entry.refs['llm_call_id'];
  const kind = entry.refs['kind'];
  return (
    <div class={`entry ${entry.role}`}>
      <div class="entry-head">
        <span class="role">{entry.role}</span>
        {message.name && <span class="tool-name">{message.name}</span>}
        {typeof kind === 'string' && <Tag>{kind}</Tag>}
        {entry.context_ref !== 'default' && <Tag title="Lane">{entry.context_ref}</Tag>}
        <span class="entry-links">
          {typeof callId === 'string' && <a href={href('threads', threadId, 'calls', callId)}>What was sent</a>}
          {entry.run_id && <a href={href('threads', threadId, 'runs', entry.run_id)}>Run</a>}
        </span>
        <span class="muted num">#{entry.seq}</span>
        <Time at={entry.at} />
      </div>
      <MessageBody message={message} />
    </div>
  );
}

function Mark({ entry }: { entry: Entry }) {
  const { title, anchor } = describeEntry(entry);
  return (
    <details class={anchor ? 'mark anchor' : 'mark'}>
      <summary>
        <span>{title}</span>
        {entry.context_ref && <Tag title="Lane">{entry.context_ref}</Tag>}
        <span class="muted num">#{entry.seq}</span>
        <Time at={entry.at} />
      </summary>
      <JsonText value={entry.payload} />
    </details>
  );
}

/** An answer while it is written. */
export const LiveCard = ({ answer }: { answer: { text: string; thinking: string } }) => (
  <div class="entry assistant live">
    <div class="entry-head">
      <span class="role">assistant</span>
      <span class="muted">writing…</span>
    </div>
    <MessageBody message={{ role: 'assistant', content: answer.text, thinking: answer.thinking }} />
  </div>
);
