import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { useState, type FormEvent } from 'react';
import { createRoot } from 'react-dom/client';
import { Message } from './message.tsx';

const api = '/api/chat';

const transport = new DefaultChatTransport({
  api,
  // the server has what was said before
  prepareSendMessagesRequest: ({ id, messages, trigger }) => ({ body: { id, message: messages.at(-1), trigger } }),
});

function Chat({ id, history }: { id: string; history: UIMessage[] }) {
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id,
    messages: history,
    transport,
    // an answer under way goes on after a reload
    resume: true,
    // once every approval has its response, the run goes on
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const [text, setText] = useState('');
  const busy = status === 'submitted' || status === 'streaming';

  const send = (event: FormEvent) => {
    event.preventDefault();
    void sendMessage({ text });
    setText('');
  };
  // leaving the page, and useChat's own stop, only stop reading: this ends the run
  const stop = () =>
    fetch(`${api}/${id}/stop`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });

  return (
    <main>
      <h1>Shop</h1>
      {messages.map((message) => (
        <Message key={message.id} message={message} decide={addToolApprovalResponse} />
      ))}
      <p role="status">{error ? 'That did not work. Try again, or reload the page.' : busy ? 'Writing …' : ''}</p>
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {busy ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button disabled={text.trim() === ''}>Send</button>
        )}
      </form>
    </main>
  );
}

const id = new URLSearchParams(location.search).get('chat') ?? 'main';
const { messages } = (await (await fetch(`${api}/${id}/messages`)).json()) as { messages: UIMessage[] };
createRoot(document.getElementById('app')!).render(<Chat id={id} history={messages} />);
