// The page of hooks.test.ts: components that show what the hooks return, under StrictMode.
import { createClient } from 'lanefold/client';
import { useApprovals, useRun, useThread } from 'lanefold/react';
import { StrictMode, useState, version } from 'react';
import { createRoot } from 'react-dom/client';

const client = createClient({ url: '', retryDelayMs: 50 });
const [threadId, id] = location.hash.slice(1).split('/');

function Run() {
  const { run, text, ended, approvals, approve, cancel, error } = useRun(client, { threadId, id });
  return (
    <section id="run">
      <output>{JSON.stringify({ status: run?.status ?? null, text, ended, result: run?.result ?? null })}</output>
      {approvals.map((approval) => (
        <button key={approval.call} onClick={() => void approve(approval)}>
          {approval.name}
        </button>
      ))}
      <button onClick={() => void cancel()}>Cancel</button>
      <i>{error?.code}</i>
    </section>
  );
}

function Inbox() {
  const { approvals, deny, error } = useApprovals(client, { pollMs: 100 });
  return (
    <section id="inbox">
      {approvals.map((approval) => (
        <button key={approval.runId} onClick={() => void deny(approval)}>
          {approval.runId}
        </button>
      ))}
      <i>{error?.code}</i>
    </section>
  );
}

function Thread() {
  const [shown, setShown] = useState(threadId);
  const { messages, status, exists, send, error } = useThread(client, shown, { agent: 'writer' });
  const texts = messages.map(({ parts }) => parts.map(({ text }) => text).join(''));
  return (
    <section id="thread">
      <output>{JSON.stringify({ status, exists: exists ?? null, texts })}</output>
      <button onClick={() => setShown(`${threadId}-next`)}>Next</button>
      <button onClick={() => void send('Continue.')}>Send</button>
      <i>{error?.code}</i>
    </section>
  );
}

function App() {
  const [shown, setShown] = useState(true);
  return (
    <>
      <button onClick={() => setShown(!shown)}>Toggle</button>
      {shown && (id ? <Run /> : threadId === 'inbox' ? <Inbox /> : <Thread />)}
      {shown && !id && threadId !== 'inbox' && <Thread />}
    </>
  );
}

document.title = version;
createRoot(document.getElementById('app')).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
