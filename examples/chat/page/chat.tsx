import { useChat, type Chat } from '@ai-sdk/react';
import { useEffect, useState, type FormEvent } from 'react';
import { createRoot } from 'react-dom/client';
import { Actions } from './actions.tsx';
import { Message, textOf } from './message.tsx';
import { isCut, openChat, readMessages, post, type ChatMessage } from './open-chat.ts';

function Page({ chat }: { chat: Chat<ChatMessage> }) {
  const { id, messages, setMessages, sendMessage, regenerate, addToolApprovalResponse, status, error } = useChat({
    chat,
  });
  const [text, setText] = useState('');
  const [resuming, setResuming] = useState(true);
  // an answer under way continues after a reload
  useEffect(() => void chat.resumeStream().finally(() => setResuming(false)), [chat]);
  const busy = status === 'submitted' || status === 'streaming';

  const send = (event: FormEvent) => {
    event.preventDefault();
    void sendMessage({ text });
    setText('');
  };
  // leaving the page, and useChat's own stop, only stop reading: this ends the run
  const stop = () => post(id, 'stop', {});
  // the server knows the versions of each message, and the messages of another branch
  const change = async (made: Promise<unknown>) => {
    await made;
    const read = await readMessages(id);
    // not over what the user has asked meanwhile, or an answer that was cut
    if (chat.status === 'ready') setMessages(read);
  };

  return (
    <main>
      <h1>Shop</h1>
      {messages.map((message) => (
        // an answer that is being read would replace what is decided meanwhile
        <Message key={message.id} message={message} decide={busy || resuming ? undefined : addToolApprovalResponse}>
          <Actions
            text={message.role === 'user' ? textOf(message) : undefined}
            versions={message.metadata?.versions}
            disabled={busy || resuming}
            select={(lane) => void change(post(id, 'show', { lane }))}
            edit={(edited) => void change(sendMessage({ text: edited, messageId: message.id }))}
            again={() => void change(regenerate({ messageId: message.id }))}
          />
        </Message>
      ))}
      <p role="status">{error ? problem(error) : busy ? 'Writing …' : ''}</p>
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

const problem = (error: Error) =>
  isCut(error) ? 'The connection was lost. Reconnecting …' : 'That did not work. Try again, or reload the page.';

const id = new URLSearchParams(location.search).get('chat') ?? 'main';
const messages = await readMessages(id);
createRoot(document.getElementById('app')!).render(<Page chat={openChat(id, messages)} />);
