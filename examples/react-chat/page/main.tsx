import { createClient } from 'lanefold/client';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat.tsx';

const chat = new URLSearchParams(location.search).get('chat') ?? 'main';

const access = async (): Promise<{ threadId: string; token: string }> => {
  const response = await fetch(`/token?chat=${encodeURIComponent(chat)}`);
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  return (await response.json()) as { threadId: string; token: string };
};

const { threadId } = await access();
// the server rejects a token that has expired, and the client then asks for another one
const client = createClient({ url: '', getToken: async () => (await access()).token });

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <Chat client={client} threadId={threadId} />
  </StrictMode>,
);
