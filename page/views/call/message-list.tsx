import type { Message } from '../../api/types.ts';
import { Tag } from '../../parts/basics.tsx';
import { isToolError, MessageBody } from '../../parts/message.tsx';
import { amount } from '../../parts/format.ts';

/** Characters per token, roughly: the model and the language of the text are unknown. */
const charsPerToken = 4;

/** Messages in the order they are sent, each with its share of the total size. */
export function MessageList({
  messages,
  sources,
  sourceHref,
  inputTokens,
}: {
  messages: Message[];
  sources: (number | null)[];
  sourceHref: (seq: number) => string;
  /** The provider's count, distributed by length; without it, an estimate. */
  inputTokens?: number | undefined;
}) {
  const sizes = messages.map(sizeOf);
  const total = Math.max(
    1,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const tokens = inputTokens || total / charsPerToken;
  return (
    <ol class="messages plain">
      {messages.map((message, index) => {
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
      })}
    </ol>
  );
}

const sizeOf = ({ content, tool_calls: calls, thinking }: Message): number =>
  (typeof content === 'string' ? content.length : JSON.stringify(content ?? '').length) +
  (calls ? JSON.stringify(calls).length : 0) +
  (thinking?.length ?? 0);
