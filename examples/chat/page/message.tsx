import { getToolName, isToolUIPart, type DynamicToolUIPart, type ToolUIPart } from 'ai';
import type { ReactNode } from 'react';
import type { ChatMessage } from './open-chat.ts';

/** Undefined while nothing can be decided. */
type Decide = ((response: { id: string; approved: boolean; reason?: string }) => unknown) | undefined;

export function Message({ message, decide, children }: { message: ChatMessage; decide: Decide; children: ReactNode }) {
  const { error, termination_reason: reason } = message.metadata ?? {};
  return (
    <>
      <article aria-label={message.role}>
        <h2>{message.role === 'user' ? 'You' : 'Shop'}</h2>
        {message.parts.map((part, index) => {
          if (part.type === 'text') return <p key={index}>{part.text}</p>;
          if (isToolUIPart(part)) return <Tool key={index} part={part} decide={decide} />;
          return null;
        })}
        {error && <p>This answer ended early: {error.message}</p>}
        {reason?.startsWith('max_') && <p>I could not finish this.</p>}
      </article>
      {children}
    </>
  );
}

export const textOf = ({ parts }: ChatMessage): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

function Tool({ part, decide }: { part: ToolUIPart | DynamicToolUIPart; decide: Decide }) {
  const call = `${getToolName(part)}(${JSON.stringify(part.input)})`;
  switch (part.state) {
    case 'approval-requested':
      return (
        <fieldset>
          <legend>May I?</legend>
          <p>{call}</p>
          <button disabled={!decide} onClick={() => void decide?.({ id: part.approval.id, approved: true })}>
            Approve
          </button>{' '}
          <button
            disabled={!decide}
            onClick={() => void decide?.({ id: part.approval.id, approved: false, reason: 'The customer said no.' })}
          >
            Deny
          </button>
        </fieldset>
      );
    case 'output-available':
      return <p>{`${call}: ${JSON.stringify(part.output)}`}</p>;
    case 'output-error':
      return <p>{`${call} failed: ${part.errorText}`}</p>;
    case 'output-denied':
      return <p>{`${call} was denied.`}</p>;
    default:
      return <p>{call} …</p>;
  }
}
