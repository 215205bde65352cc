// @module-tag slow
// Pages of a conversation that branches: stores on a real server, with browser tokens.
import { defineAgent, type BrowserAccess } from 'lanefold';
import { createClient } from 'lanefold/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { threadStore } from '../../src/doors/react/stores.ts';
import { startApi, type Api } from '../api/helpers.ts';
import { typedModel } from '../support/typed-model.ts';

const model = typedModel();
const browser = new EventTarget();
let api: Api;
beforeAll(async () => {
  vi.stubGlobal('addEventListener', browser.addEventListener.bind(browser));
  api = await startApi({
    agents: [defineAgent({ name: 'writer', model: 'typed:m' })],
    models: { typed: () => model },
    tokenSecrets: ['secret'],
    server: { apiKey: 'root' },
  });
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await api?.close();
});

/** A page of a thread. @param lose whether the answer to a request gets lost once the server has it */
function openThread(
  threadId: string,
  { access = 'chat' as BrowserAccess, lose = (_path: string): boolean => false } = {},
) {
  const asked: string[] = [];
  const client = createClient({
    url: api.url,
    retryDelayMs: 20,
    getToken: () => api.lanefold.keys.browserToken({ threadId, access, expiresInMs: 600_000 }).token,
    async fetch(url, init) {
      const path = String(url).slice(api.url.length);
      if (init?.method === 'POST') asked.push(`${path.split('/').at(-1)} ${String(init.body)}`);
      const response = await fetch(url, init);
      if (!lose(path)) return response;
      await response.body?.cancel();
      throw new TypeError('fetch failed');
    },
  });
  const store = threadStore(client, threadId);
  const seen: string[] = [];
  const close = store.subscribe(() => void seen.push(texts().join(' | ')));
  const texts = () =>
    store.state().messages.map(({ parts }) => parts.flatMap(({ text }) => (text === undefined ? [] : text)).join());
  const versions = () =>
    store.state().messages.map(({ metadata }) => {
      const { place, lanes } = metadata?.versions ?? {};
      return place === undefined ? '' : `${place}/${lanes!.length}`;
    });
  return { store, close, texts, versions, seen, asked };
}

type Page = ReturnType<typeof openThread>;

const shows = (page: Page, texts: string[]) => expect.poll(page.texts).toEqual(texts);
const isReady = (page: Page) => expect.poll(() => page.store.state().status).toBe('ready');

async function answers(text: string): Promise<void> {
  const keys = await model.next();
  keys.type(text);
  keys.stop();
}

test('a question is edited and answered again, and another tab shows the same branch', async () => {
  const page = openThread('edit');
  await page.store.send('writer', 'one');
  await answers('first');
  await shows(page, ['one', 'first']);
  await isReady(page);
  await page.store.send('writer', 'two');
  await answers('second');
  await shows(page, ['one', 'first', 'two', 'second']);
  await isReady(page);

  const [, , two] = page.store.state().messages;
  const edited = page.store.edit('writer', two!.id, 'zwei');
  expect(page.texts()).toEqual(['one', 'first', 'zwei']);
  await edited;
  await answers('zweite');
  await shows(page, ['one', 'first', 'zwei', 'zweite']);
  await isReady(page);
  await expect.poll(page.versions).toEqual(['', '', '2/2', '']);

  await page.store.regenerate('writer');
  await answers('zweite, again');
  await shows(page, ['one', 'first', 'zwei', 'zweite, again']);
  await isReady(page);
  await expect.poll(page.versions).toEqual(['', '', '2/2', '2/2']);
  // the old answer never came back
  const from = page.seen.indexOf('one | first | zwei');
  expect(page.seen.slice(from).filter((texts) => texts.includes('second'))).toEqual([]);

  const other = openThread('edit');
  await shows(other, ['one', 'first', 'zwei', 'zweite, again']);
  await expect.poll(other.versions).toEqual(['', '', '2/2', '2/2']);
  const [, , shown] = other.store.state().messages;
  await other.store.select(shown!.metadata!.versions!.lanes[0]!);
  await shows(other, ['one', 'first', 'two', 'second']);
  // the first tab sees it when the user returns to it
  browser.dispatchEvent(new Event('focus'));
  await shows(page, ['one', 'first', 'two', 'second']);
  await expect.poll(page.versions).toEqual(['', '', '1/2', '']);
  // the first answer of all, named by its answer
  await page.store.regenerate('writer', page.store.state().messages[1]!.id);
  await answers('first, again');
  await shows(other, ['one', 'first, again']);
  await expect.poll(other.versions).toEqual(['', '2/2']);
  page.close();
  other.close();
});

test('a change that is refused leaves the conversation as it was', async () => {
  const page = openThread('refused');
  await page.store.send('writer', 'one');
  await answers('first');
  await shows(page, ['one', 'first']);
  await isReady(page);
  const [one] = page.store.state().messages;
  await expect(page.store.edit('nobody', one!.id, 'eins')).rejects.toMatchObject({ code: 'unknown_agent' });
  expect(page.texts()).toEqual(['one', 'first']);
  expect(page.store.state().error).toMatchObject({ code: 'unknown_agent' });
  // without the right to ask
  const reader = openThread('refused', { access: 'read' });
  await shows(reader, ['one', 'first']);
  await expect(reader.store.regenerate('writer')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(reader.store.select('default')).rejects.toMatchObject({ code: 'forbidden' });
  expect(reader.texts()).toEqual(['one', 'first']);
  page.close();
  reader.close();
});

test('a change whose answer was lost makes one branch, also when it is sent again', async () => {
  let losing = false;
  const page = openThread('lost', { lose: (path) => losing && path.endsWith('/branch') });
  await page.store.send('writer', 'one');
  await answers('first');
  await shows(page, ['one', 'first']);
  await isReady(page);
  const [one] = page.store.state().messages;
  losing = true;
  await expect(page.store.edit('writer', one!.id, 'eins')).rejects.toMatchObject({ code: 'unreachable' });
  losing = false;
  await answers('erste');
  await page.store.edit('writer', one!.id, 'eins').catch(() => {});
  await shows(page, ['eins', 'erste']);
  await isReady(page);
  expect(await api.lanefold.threads.branches('lost')).toHaveLength(2);
  expect(new Set(page.asked.filter((request) => request.startsWith('branch'))).size).toBe(1);
  page.close();
});

test('an answer that failed without a word is shown, and the one before it is a step away', async () => {
  const page = openThread('silent');
  await page.store.send('writer', 'one');
  await answers('first');
  await shows(page, ['one', 'first']);
  await isReady(page);
  await page.store.regenerate('writer');
  (await model.next()).fail(Object.assign(new Error('Bad request.'), { statusCode: 400, isRetryable: false }));
  await isReady(page);
  await shows(page, ['one', '']);
  await expect
    .poll(() => page.store.state().messages[1]!.metadata)
    .toMatchObject({ error: {}, versions: { place: 2, lanes: ['default', 'default@2'] } });
  await page.store.select('default');
  await shows(page, ['one', 'first']);
  await expect.poll(page.versions).toEqual(['', '1/2']);
  page.close();
});

test('an edit that interrupts takes the place of the answer in progress', async () => {
  const page = openThread('interrupts');
  await page.store.send('writer', 'one');
  const keys = await model.next();
  keys.type('fir');
  await shows(page, ['one', 'fir']);
  const [one] = page.store.state().messages;
  await page.store.edit('writer', one!.id, 'eins', { busy: 'interrupt' });
  await answers('erste');
  await shows(page, ['eins', 'erste']);
  await isReady(page);
  await expect.poll(page.versions).toEqual(['2/2', '']);
  page.close();
});
