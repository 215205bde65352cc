import type { Entry, Mark as RunMark, Message } from '../../api/types.ts';
import { Tag, Time } from '../../parts/basics.tsx';
import { isToolError, MessageBody } from '../../parts/message.tsx';
import { JsonText } from '../../parts/text.tsx';
import { href } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';
import { Marks } from '../marks/marks.tsx';
import { describeEntry } from './describe-entry.ts';
import { ForkButton } from './fork-button.tsx';

/** One entry of the log: a message, or a mark where something about the context changed. */
export const EntryCard = (props: CardProps) =>
  props.entry.kind === 'ai_message' ? <MessageCard {...props} /> : <Mark {...props} />;

interface CardProps {
  entry: Entry;
  state: ThreadState;
  marks: RunMark[] | undefined;
}

function MessageCard({ entry, state, marks }: CardProps) {
  const message = entry.payload as unknown as Message;
  const callId = entry.refs['llm_call_id'];
  const kind = entry.refs['kind'];
  const failed = isToolError(message);
  return (
    <div class={`entry ${entry.role}${failed ? ' bad' : ''}`}>
      <div class="entry-head">
        <span class="role">{entry.role}</span>
        {message.name && <span class="tool-name">{message.name}</span>}
        {typeof kind === 'string' && <Tag>{kind}</Tag>}
        {failed && !marks?.some(({ kind }) => kind === 'tool_failed') && <Tag bad>error</Tag>}
        {entry.context_ref !== 'default' && <Tag title="Lane">{entry.context_ref}</Tag>}
        <span class="entry-links">
          {typeof callId === 'string' && <a href={href('threads', state.id, 'calls', callId)}>What was sent</a>}
          {entry.run_id && <a href={href('threads', state.id, 'runs', entry.run_id)}>Run</a>}
          <ForkButton state={state} seq={entry.seq} ofEntry />
        </span>
        <span class="muted num">#{entry.seq}</span>
        <Time at={entry.at} />
      </div>
      <Marks threadId={state.id} marks={marks} />
      <MessageBody message={message} />
    </div>
  );
}

function Mark({ entry, state }: CardProps) {
  const { title, by, summary, anchor, open = false } = describeEntry(entry);
  return (
    <details class={anchor ? 'mark anchor' : 'mark'} open={open}>
      <summary>
        <span>{title}</span>
        {by && <Tag>{by}</Tag>}
        {entry.context_ref && <Tag title="Lane">{entry.context_ref}</Tag>}
        <span class="muted num">#{entry.seq}</span>
        <Time at={entry.at} />
        {summary && <span class="clamp summary">{summary}</span>}
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

/** An answer while it is being streamed. */
export const LiveCard = ({ answer }: { answer: { text: string; thinking: string } }) => (
  <div class="entry assistant live">
    <div class="entry-head">
      <span class="role">assistant</span>
      <span class="muted">writing…</span>
    </div>
    <MessageBody message={{ role: 'assistant', content: answer.text || [], thinking: answer.thinking }} />
  </div>
);
