import type { ThreadMessage } from 'lanefold/react';
import type { ReactNode } from 'react';

export function Message({ message, children }: { message: ThreadMessage; children: ReactNode }) {
  const { error } = message.metadata ?? {};
  return (
    <>
      <article aria-label={message.role} aria-busy={message.pending ?? false}>
        <h2>{message.role === 'user' ? 'You' : 'Shop'}</h2>
        {message.parts.map((part, index) => (
          <Part key={index} part={part} />
        ))}
        {error && <p>This answer ended early: {error.message}</p>}
      </article>
      {children}
    </>
  );
}

export const textOf = ({ parts }: ThreadMessage): string =>
  parts.map((part) => (part.type === 'text' ? String(part.text) : '')).join('');

function Part({ part }: { part: ThreadMessage['parts'][number] }) {
  if (part.type === 'text') return <p>{String(part.text)}</p>;
  if (!part.type.startsWith('tool-')) return null;
  const call = `${part.type.slice('tool-'.length)}(${JSON.stringify(part.input)})`;
  if (part.state === 'output-available') return <p>{`${call}: ${JSON.stringify(part.output)}`}</p>;
  if (part.state === 'output-denied') return <p>{`${call} was denied.`}</p>;
  if (part.state === 'output-error') return <p>{`${call} failed: ${String(part.errorText)}`}</p>;
  return <p>{call} …</p>;
}
