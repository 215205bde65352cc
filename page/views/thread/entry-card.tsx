import type { Entry, Message } from '../../api/types.ts';
import { Tag, Time } from '../../parts/basics.tsx';
import { isToolError, MessageBody } from '../../parts/message.tsx';
import { JsonText } from '../../parts/text.tsx';
import { href } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';
import { describeEntry } from './describe-entry.ts';
import { ForkButton } from './fork-button.tsx';

/** One entry of the log: a message, or a mark where something about the context changed. */
export const EntryCard = ({ entry, state }: { entry: Entry; state: ThreadState }) =>
  entry.kind === 'ai_message' ? <MessageCard entry={entry} state={state} /> : <Mark entry={entry} state={state} />;

function MessageCard({ entry, state }: { entry: Entry; state: ThreadState }) {
  const message = entry.payload as unknown as Message;
  const callId = entry.refs['llm_call_id'];
  const kind = entry.refs['kind'];
  return (
    <div class={`entry ${entry.role}`}>
      <div class="entry-head">
        <span class="role">{entry.role}</span>
        {message.name && <span class="tool-name">{message.name}</span>}
        {typeof kind === 'string' && <Tag>{kind}</Tag>}
        {isToolError(message) && <Tag bad>error</Tag>}
        {entry.context_ref !== 'default' && <Tag title="Lane">{entry.context_ref}</Tag>}
        <span class="entry-links">
          {typeof callId === 'string' && <a href={href('threads', state.id, 'calls', callId)}>What was sent</a>}
          {entry.run_id && <a href={href('threads', state.id, 'runs', entry.run_id)}>Run</a>}
          <ForkButton state={state} seq={entry.seq} ofEntry />
        </span>
        <span class="muted num">#{entry.seq}</span>
        <Time at={entry.at} />
      </div>
      <MessageBody message={message} />
    </div>
  );
}

function Mark({ entry, state }: { entry: Entry; state: ThreadState }) {
  const { title, anchor, open = false } = describeEntry(entry);
  return (
    <details class={anchor ? 'mark anchor' : 'mark'} open={open}>
      <summary>
        <span>{title}</span>
        {entry.context_ref && <Tag title="Lane">{entry.context_ref}</Tag>}
        <span class="muted num">#{entry.seq}</span>
        <Time at={entry.at} />
      </summary>
      {anchor?.map((message, index) => (
        <div key={index} class={`entry ${message.role}`}>
          <div class="entry-head">
            <span class="role">{message.role}</span>
            {message.name && <span class="tool-name">{message.name}</span>}
          </div>
          <MessageBody message={message} />
        </div>
      ))}
      <details class="fold">
        <summary>As stored</summary>
        <JsonText value={entry.payload} />
      </details>
      <ForkButton state={state} seq={entry.seq} ofEntry />
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
