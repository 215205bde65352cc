import type { Entry, Mark as RunMark, Message, JsonObject, Thread } from '../../api/types.ts';
import { Tag, Time } from '../../parts/basics.tsx';
import { isToolError, MessageBody, JsonText } from '../../parts/message.tsx';
import { href } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';
import { Marks } from '../marks/marks.tsx';
import { clip } from '../../parts/format.ts';
import { FeedbackButton } from './feedback.tsx';
import { Arrows, BranchButton } from './versions.tsx';
import { post, v1 } from '../../api/client.ts';
import { DialogButton } from '../../parts/dialog.tsx';

/** One entry of the log: a message, or a mark where something about the context changed. */
export const EntryCard = (props: CardProps) =>
  props.entry.kind === 'ai_message' ? <MessageCard {...props} /> : <Mark {...props} />;

interface CardProps {
  entry: Entry;
  state: ThreadState;
  marks?: RunMark[] | undefined;
  /** The branch that is shown; undefined: the log of all lanes. */
  branch?: string | undefined;
  /** Whether its message leads to its other versions, and new ones can be asked for. */
  versions?: boolean;
}

function MessageCard({ entry, state, marks, branch, versions }: CardProps) {
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
        {entry.context_ref !== 'default' && entry.context_ref !== branch && <Tag title="Lane">{entry.context_ref}</Tag>}
        {versions && branch !== undefined && <Arrows seq={entry.seq} state={state} branch={branch} />}
        <span class="entry-links">
          {typeof callId === 'string' && <a href={href('threads', state.id, 'calls', callId)}>What was sent</a>}
          {entry.run_id && <a href={href('threads', state.id, 'runs', entry.run_id)}>Run</a>}
          {versions && <BranchButton entry={entry} state={state} />}
          {entry.role === 'assistant' && <FeedbackButton entry={entry} state={state} />}
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

function Mark({ entry, state, branch }: CardProps) {
  const { title, by, summary, anchor, open = false } = describeEntry(entry);
  return (
    <details class={anchor ? 'mark anchor' : 'mark'} open={open}>
      <summary>
        <span>{title}</span>
        {by && <Tag>{by}</Tag>}
        {entry.context_ref && entry.context_ref !== branch && <Tag title="Lane">{entry.context_ref}</Tag>}
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

const maxChars = 90;

/** A short description of an entry that is not a message. */
export interface Description {
  title: string;
  /** Who did it, as far as the log knows. */
  by?: string;
  /** The summary that replaced the messages a compaction covered. */
  summary?: string;
  /** The context of its lane restarts with these messages. */
  anchor?: Message[];
  /** Initially expanded, because the thread has nothing else to show. */
  open?: boolean;
}

export function describeEntry({ kind, payload, refs }: Entry): Description {
  if (kind === 'ai_context_operation') {
    const operation = (payload['operation'] ?? {}) as JsonObject;
    if (operation['type'] !== 'replace') return { title: 'This lane became the active one' };
    const { entries } = (operation['result_context'] ?? {}) as JsonObject;
    const anchor = Array.isArray(entries) ? (entries as unknown as Message[]) : [];
    const messages = `${anchor.length} ${anchor.length === 1 ? 'message' : 'messages'}`;
    if (String(payload['op_id']).startsWith('fork/')) return { title: `Forked with ${messages}`, anchor, open: true };
    const { branch } = (operation['meta'] ?? {}) as { branch?: { context_ref: string; after_seq: number } };
    if (branch) {
      const place = branch.after_seq < 0 ? 'from its beginning' : `after #${branch.after_seq}`;
      return { title: `Branch of ${branch.context_ref} ${place}`, anchor };
    }
    const { covered, messages: count } = (operation['meta'] ?? {}) as { covered?: [number, number]; messages?: number };
    const summary = anchor.find(
      (message) => (message as Message & { refs?: JsonObject }).refs?.['kind'] === 'compaction_summary',
    );
    if (covered) {
      const title = `Compacted: entries #${covered[0]} to #${covered[1]}, ${count} messages, are now a summary`;
      return { title, anchor, ...(summary ? { summary: String(summary.content) } : {}) };
    }
    return { title: `Context replaced (${String(operation['reason'])}): ${messages}`, anchor };
  }
  if (kind === 'ai_config_change') {
    const { field, value } = payload;
    const by = actorOf(refs);
    if (field !== 'system_prompt') return { title: `Configuration: ${String(field)} changed`, ...by };
    return {
      title: value === null ? 'System prompt removed' : `System prompt: ${clip(String(value), maxChars)}`,
      ...by,
    };
  }
  if (kind === 'feedback') {
    const { answer_seq: of, rating, comment, by } = payload;
    const opinion = rating === 'up' ? 'a good answer' : rating === 'down' ? 'not a good answer' : 'no opinion';
    const why = comment === undefined ? '' : `: ${clip(String(comment), maxChars)}`;
    return { title: `Feedback on #${String(of)}: ${opinion}${why}`, ...(by === undefined ? {} : { by: String(by) }) };
  }
  if (kind === 'ai_state_change') return { title: 'Tools changed the state' };
  return { title: `${kind} ${clip(JSON.stringify(payload), maxChars)}` };
}

/** Many changes have no author: changes by programs that name no author, and by a fork. */
function actorOf({ by, source, agent }: JsonObject): { by?: string } {
  if (source === 'agent') return { by: `from the agent ${String(agent)}` };
  return by === undefined ? {} : { by: `by ${String(by)}` };
}

/** Creates a thread with the state of this one after an entry, and opens it. This thread stays unchanged. */
export const ForkButton = ({ state, seq, ofEntry = false }: { state: ThreadState; seq: number; ofEntry?: boolean }) => (
  <DialogButton
    title={`Fork after entry #${seq}`}
    button="Fork"
    submit="Fork"
    {...(ofEntry ? { kind: 'link', label: `Fork after entry #${seq}` } : {})}
    onSubmit={async (fields) => {
      const lane = String(fields.get('lane'));
      const fork = await post<Thread>(v1('threads', state.id, 'fork'), {
        at_seq: seq,
        ...(lane === '' ? {} : { context_ref: lane }),
        ...(fields.get('repair') ? { repair: true } : {}),
      });
      location.hash = href('threads', fork.id);
    }}
  >
    <p>A new thread begins with the configuration, state and contexts of that moment. This thread stays as it is.</p>
    <label>
      <span>Lane</span>
      <select name="lane">
        <option value="">all</option>
        <LaneOptions state={state} />
      </select>
    </label>
    <label class="check">
      <input type="checkbox" name="repair" /> <span>Add error results to tool calls that had no result yet</span>
    </label>
  </DialogButton>
);

/** The lanes of a thread, to choose from. */
export const LaneOptions = ({ state }: { state: ThreadState }) => (
  <>
    {state.lanes.value.map(({ context_ref: name }) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))}
  </>
);
