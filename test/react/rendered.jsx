// What hooks render on a server: see server.test.ts.
import { createElement, version } from 'react';
import { renderToString } from 'react-dom/server';
import { useApprovals, useRun, useThread } from 'lanefold/react';

export { version };

export function render(client) {
  const Page = () => {
    const { messages, status, exists } = useThread(client, 'support-42', { agent: 'support' });
    const { run, ended } = useRun(client, { threadId: 'support-42', id: 'run_1' });
    const { approvals } = useApprovals(client);
    return createElement('p', null, JSON.stringify([messages, status, exists ?? null, run ?? null, ended, approvals]));
  };
  return renderToString(createElement(Page));
}
