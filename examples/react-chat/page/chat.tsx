import type { Client } from 'lanefold/client';
import { useThread } from 'lanefold/react';
import { useState, type FormEvent } from 'react';
import { Approvals } from './approvals.tsx';
import { Message } from './message.tsx';

export function Chat({ client, threadId }: { client: Client; threadId: string }) {
  const { messages, status, error, send, cancel, hasEarlier, loadEarlier } = useThread(client, threadId, {
    agent: 'shop',
  });
  const [text, setText] = useState('');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    // Enter sends a form without a button, too
    if (status !== 'ready' || text.trim() === '') return;
    setText('');
    // if the server refuses it, `error` says why, and the words are back
    send(text).catch(() => setText(text));
  };

  return (
    <main>
      <h1>Shop</h1>
      {hasEarlier && <button onClick={() => void loadEarlier()}>Earlier</button>}
      {messages.map((message) => (
        <Message key={message.id} message={message} />
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
          <button type="button" onClick={() => void cancel('The customer stopped it.')}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}

const words = { loading: 'Loading …', busy: 'Writing …', suspended: 'Waiting for you.' };
