import type { Json, JsonObject, Message, ToolCall } from '../api/types.ts';
import { JsonText, laidOut, Text } from './text.tsx';

/** What a message shows besides its role: its own content, or a result, which may be any JSON. */
type Shown = Pick<Message, 'role' | 'tool_calls' | 'thinking'> & { content: Json };

/** The body of a message: reasoning, text or parts, and its tool calls. */
export const MessageBody = ({ message }: { message: Shown }) => (
  <>
    {message.thinking && (
      <details class="fold">
        <summary>Reasoning</summary>
        <Text text={message.thinking} />
      </details>
    )}
    {isEmpty(message) ? <p class="muted">empty result</p> : <Content content={message.content} />}
    {message.tool_calls?.map((call, index) => (
      <Call key={index} call={call} />
    ))}
  </>
);

/** A tool's error, as the model reads it. */
export const isToolError = ({ role, content }: Message): boolean =>
  role === 'tool' && typeof content === 'string' && content.startsWith('{"ok":false,"error":{');

/** An answer with tool calls needs no text. */
const isEmpty = ({ role, content, tool_calls: calls }: Shown): boolean =>
  content === '' && (role === 'tool' || (role === 'assistant' && !calls?.length));

function Content({ content }: { content: Json }) {
  if (typeof content === 'string') return content === '' ? null : <Text {...laidOut(content)} />;
  if (!Array.isArray(content)) return <JsonText value={content} />;
  return (
    <>
      {content.map((part, index) => (
        <Part key={index} part={part as JsonObject} />
      ))}
    </>
  );
}

function Part({ part }: { part: JsonObject }) {
  if (part['type'] === 'text' && typeof part['text'] === 'string') return <Text text={part['text']} />;
  if (part['type'] !== 'file') return <JsonText value={part} />;
  const data = part['data'];
  const size = typeof data === 'string' ? `, ${Math.ceil((data.length * 3) / 4 / 1024)} KiB` : '';
  return (
    <p class="attachment">
      {String(part['filename'] ?? part['url'] ?? 'File')} ({String(part['media_type'])}
      {size})
    </p>
  );
}

const Call = ({ call }: { call: ToolCall }) => (
  <div class="tool-call">
    <span class="tool-name">{call.name}</span>
    <JsonText value={call.arguments} />
  </div>
);
