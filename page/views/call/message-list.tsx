import type { ComponentChildren } from 'preact';
import type { Message, ModelCall } from '../../api/types.ts';
import { Tag } from '../../parts/basics.tsx';
import { isToolError, MessageBody } from '../../parts/message.tsx';
import { amount } from '../../parts/format.ts';
import { href } from '../../state/route.ts';

/** Characters per token, roughly: the model and the language of the text are unknown. */
const charsPerToken = 4;

/** Messages in the order they are sent, each with its share of the total size. */
export function MessageList({
  messages,
  sources,
  sourceHref,
  inputTokens,
  common = 0,
}: {
  messages: Message[];
  sources: (number | null)[];
  sourceHref: (seq: number) => string;
  /** The provider's count, distributed by length; without it, an estimate. */
  inputTokens?: number | undefined;
  /** How many at the beginning are folded, because the list beside this one begins with them too. */
  common?: number | undefined;
}) {
  const sizes = messages.map(sizeOf);
  const total = Math.max(
    1,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const tokens = inputTokens || total / charsPerToken;
  const items = messages.map((message, index) => {
    const share = sizes[index]! / total;
    const seq = sources[index];
    const failed = isToolError(message);
    return (
      <li key={index} class={`entry ${message.role}${failed ? ' bad' : ''}`}>
        <div class="entry-head">
          <span class="role">{message.role}</span>
          {message.name && <span class="tool-name">{message.name}</span>}
          {failed && <Tag bad>error</Tag>}
          <span class="entry-links">
            {seq == null ? <span class="muted">never stored</span> : <a href={sourceHref(seq)}>Entry #{seq}</a>}
          </span>
          <span class="muted num" title="Estimated from the length of the message">
            ≈ {amount(Math.round(share * tokens))} tokens
          </span>
          <meter min={0} max={1} value={share} aria-label="Share of the context">
            {Math.round(share * 100)} %
          </meter>
        </div>
        <MessageBody message={message} />
      </li>
    );
  });
  return (
    <>
      {common > 0 && (
        <InCommon count={common}>
          <ol class="messages plain">{items.slice(0, common)}</ol>
        </InCommon>
      )}
      <ol class="messages plain" start={common + 1}>
        {items.slice(common)}
      </ol>
    </>
  );
}

/** Messages that two lists begin with, folded. */
export const InCommon = ({ count, children }: { count: number; children: ComponentChildren }) => (
  <details class="fold">
    <summary>
      {amount(count)} {count === 1 ? 'message' : 'messages'} in common
    </summary>
    {children}
  </details>
);

const sizeOf = ({ content, tool_calls: calls, thinking }: Message): number =>
  (typeof content === 'string' ? content.length : JSON.stringify(content ?? '').length) +
  (calls ? JSON.stringify(calls).length : 0) +
  (thinking?.length ?? 0);

type Range = [from: number, to: number, first?: number, last?: number];

/** The messages that the context policy left out, as the worker recorded them with the answer. */
export function LeftOut({ call: { thread_id: threadId, refs } }: { call: ModelCall }) {
  const dropped = (refs['dropped'] ?? []) as Range[];
  const kinds = refs['kinds'] as string[] | undefined;
  const overBudget = refs['over_budget'] === true;
  if (dropped.length === 0 && !kinds && !overBudget) return null;
  return (
    <div class="notice">
      {dropped.length > 0 && (
        <>
          The policy left out{' '}
          {dropped.map(([from, to, first, last], index) => (
            <>
              {index > 0 && ', '}
              <a href={href('threads', threadId, { at: String(to) })}>
                {from === to ? `entry #${from}` : `entries #${from} to #${to}`}
              </a>
              {first !== undefined && ` (its messages ${first + 1} to ${last! + 1})`}
            </>
          ))}
          .{' '}
        </>
      )}
      {kinds && `It sends only ${kinds.map((kind) => kind.replaceAll('_', ' ')).join(', ') || 'the prompt'}. `}
      {overBudget && 'The messages it must keep exceed the budget.'}
    </div>
  );
}
