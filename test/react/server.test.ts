import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createClient } from 'lanefold/client';
import { useApprovals, useRun, useThread } from 'lanefold/react';
import { expect, test } from 'vitest';

test('on a server, hooks render what is not known yet, and ask for nothing', () => {
  const asked: unknown[] = [];
  const fetch = (url: unknown) => {
    asked.push(url);
    return Promise.reject(new Error('not here'));
  };
  const client = createClient({ url: 'http://127.0.0.1:9', fetch });
  const Page = () => {
    const { messages, status } = useThread(client, 'support-42', { agent: 'support' });
    const { run, ended } = useRun(client, { threadId: 'support-42', id: 'run_1' });
    const inbox = useApprovals(client);
    return createElement('p', null, JSON.stringify([messages, status, run ?? null, ended, inbox.approvals]));
  };
  expect(renderToString(createElement(Page))).toBe('<p>[[],&quot;loading&quot;,null,false,[]]</p>');
  expect(asked).toEqual([]);
});
