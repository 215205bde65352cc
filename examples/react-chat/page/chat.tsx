import type { Client } from 'lanefold/client';
import { useThread } from 'lanefold/react';
import { useState, type FormEvent } from 'react';
import { Approvals } from './approvals.tsx';
import { Actions } from './actions.tsx';
import { Message, textOf } from './message.tsx';

export function Chat({ client, threadId }: { client: Client; threadId: string }) {
  const { messages, status, error, hasEarlier, ...thread } = useThread(client, threadId, { agent: 'shop' });
  const [text, setText] = useState('');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    // Enter sends a form without a button, too
    if (status !== 'ready' || text.trim() === '') return;
    setText('');
    // if the server refuses it, `error` says why, and the words are back
    thread.send(text).catch(() => setText(text));
  };

  return (
    <main>
      <h1>Shop</h1>
      {hasEarlier && <button onClick={() => void thread.loadEarlier()}>Earlier</button>}
      {messages.map((message) => (
        <Message key={message.id} message={message}>
          {!message.pending && (
            <Actions
              text={message.role === 'user' ? textOf(message) : undefined}
              versions={message.metadata?.versions}
              disabled={status !== 'ready'}
              select={(lane) => void thread.select(lane).catch(shown)}
              edit={(edited) => void thread.edit(message.id, edited).catch(shown)}
              again={() => void thread.regenerate(message.id).catch(shown)}
            />
          )}
        </Message>
      ))}
      <Approvals client={client} threadId={threadId} />
      <p role="status">{status === 'ready' ? '' : words[status]}</p>
      {error && (
        <p role="alert">
          {error.message} {error.hint}
        </p>
      )}
      <form onSubmit={submit}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {status === 'ready' || status === 'loading' ? (
          <button disabled={status === 'loading' || text.trim() === ''}>Send</button>
        ) : (
          <button type="button" onClick={() => void thread.cancel('The customer stopped it.')}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}

/** `error` says why. */
const shown = () => {};

const words = { loading: 'Loading …', busy: 'Writing …', suspended: 'Waiting for you.' };
