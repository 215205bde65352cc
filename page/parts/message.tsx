import type { Json, JsonObject, Message, ToolCall } from '../api/types.ts';
import { useSignal } from '@preact/signals';

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

const shown = 6_000;
/** Preview of a long formatted value. */
const shownLines = 12;
const lineShown = 200;

/** Text with its line breaks; a long one is cut until the reader asks for the rest. */
export function Text({ text, mono = false }: { text: string; mono?: boolean }) {
  const all = useSignal(false);
  const long = text.length > shown;
  return (
    <div class={mono ? 'text mono' : 'text'}>
      {!long || all.value ? text : mono ? beginning(text) : text.slice(0, shown)}
      {long && (
        <button type="button" class="link" aria-expanded={all.value} onClick={() => (all.value = !all.value)}>
          {all.value ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
        </button>
      )}
    </div>
  );
}

const beginning = (text: string): string => {
  const lines = text.slice(0, shownLines * lineShown).split('\n', shownLines);
  return lines.map((line) => (line.length > lineShown ? `${line.slice(0, lineShown)}…` : line)).join('\n');
};

/** Small values stay on one line, so that a list of calls can be read at a glance. */
const lineChars = 96;

export function pretty(value: Json): string {
  const line = JSON.stringify(value);
  return line.length <= lineChars ? line : JSON.stringify(value, null, 2);
}

export const JsonText = ({ value }: { value: Json | undefined }) => <Text mono text={pretty(value ?? null)} />;

const longNumber = /[\d.]{16}|\d[eE][+-]?\d{3}/;

/** Formats a text that is JSON, as tool results often are. */
export function laidOut(text: string): { text: string; mono: boolean } {
  if (!/^\s*[[{]/.test(text)) return { text, mono: false };
  // laid out, a long number would lose digits
  if (longNumber.test(text)) return { text, mono: true };
  try {
    return { text: pretty(JSON.parse(text) as Json), mono: true };
  } catch {
    return { text, mono: false };
  }
}
