import type { ComponentChildren } from 'preact';
import type { Message } from '../../api/types.ts';
import { ChangedWords, type Words } from '../../parts/changed-words.tsx';
import type { Change } from '../../parts/diff.ts';
import { clip } from '../../parts/format.ts';
import { MessageBody } from '../../parts/message.tsx';
import { laidOut } from '../../parts/text.tsx';

const previewChars = 200;

/** Two contexts in two columns: what is the same across both, and what differs in the column that has it. */
export const SideBySide = ({ changes, words }: { changes: Change[]; words: Words }) => (
  <ol class="diff plain sides">
    {changes.map((change, index) => (
      <Row key={index} change={change} words={words} />
    ))}
  </ol>
);

function Row({ change, words }: { change: Change; words: Words }) {
  if (change.kind === 'same')
    return (
      <li>
        {change.messages.map((message, index) => (
          <p key={index} class="muted">
            <span class="role">{message.role}</span> {clip(textOf(message), previewChars)}
          </p>
        ))}
      </li>
    );
  if (change.kind === 'changed') {
    const texts = { before: textOf(change.before), after: textOf(change.after), words, mono: isCode(change.after) };
    return (
      <li class="changed pair">
        <Side message={change.before}>
          <ChangedWords {...texts} side="before" />
        </Side>
        <Side message={change.after}>
          <ChangedWords {...texts} side="after" />
        </Side>
      </li>
    );
  }
  const { role } = change.message;
  const own = (
    <Side message={change.message}>
      <MessageBody message={change.message} />
    </Side>
  );
  return (
    <li class={`${change.kind} pair`}>
      {change.kind === 'removed' ? own : <Missing role={role} />}
      {change.kind === 'removed' ? <Missing role={role} /> : own}
    </li>
  );
}

const Side = ({ message, children }: { message: Message; children: ComponentChildren }) => (
  <div>
    <span class="role">{message.role}</span> {message.name && <span class="tool-name">{message.name}</span>}
    {children}
  </div>
);

const Missing = ({ role }: { role: string }) => (
  <div class="muted">
    <span class="role">{role}</span> not sent
  </div>
);

/** Whether a message is JSON, or calls tools. */
const isCode = ({ content, tool_calls: calls }: Message): boolean =>
  !!calls?.length || typeof content !== 'string' || laidOut(content).mono;

/** The content, then the tool calls as a program would write them. */
const textOf = ({ content, tool_calls: calls }: Message): string =>
  [
    typeof content === 'string' ? content : JSON.stringify(content),
    ...(calls ?? []).map(({ name, arguments: args }) => `${name}(${JSON.stringify(args)})`),
  ]
    .filter((text) => text !== '')
    .join('\n');
