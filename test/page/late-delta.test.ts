import { afterEach, expect, test, vi } from 'vitest';

// the page keeps its key there, and reads it when it is loaded
vi.stubGlobal('sessionStorage', { getItem: () => null });
// without its types, which are those of a browser
const state: string = '../../page/state/thread.ts';
const { ThreadState } = (await import(state)) as { ThreadState: new (id: string) => Opened };
interface Opened {
  answers: { value: ReadonlyMap<string, { text: string }> };
  open(at: null): Promise<void>;
  close(): void;
}
afterEach(() => void vi.unstubAllGlobals());

/** A server with one thread of one run, which says what a test makes it say. */
function serverOf() {
  const thread = { id: 't', rev: 1, event_rev: 1, active_run_id: 'run_1' as string | null };
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  const answer = (path: string): object => (path === '/v1/threads/t' ? thread : { data: [], next_after: null });
  vi.stubGlobal('fetch', (url: string) => {
    const path = url.split('?')[0]!;
    if (!path.endsWith('/events')) return Promise.resolve(Response.json(answer(path)));
    return Promise.resolve(new Response(new ReadableStream<Uint8Array>({ start: (own) => void (stream = own) })));
  });
  return {
    thread,
    isFollowed: () => stream !== undefined,
    send(event: string, data: object) {
      stream!.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    },
  };
}

test('a delta that comes after the end of its run is not shown', async () => {
  const server = serverOf();
  const opened = new ThreadState('t');
  await opened.open(null);
  await expect.poll(server.isFollowed).toBe(true);
  const texts = () => [...opened.answers.value.values()].map(({ text }) => text);
  server.send('llm_delta', { run_id: 'run_1', llm_call_id: 'run_1.1', offset: 0, text: 'Half' });
  await expect.poll(texts).toEqual(['Half']);
  server.thread.active_run_id = 'run_2';
  server.send('message', { run_id: 'run_1', kind: 'request_completed', event_seq: 1, data: {} });
  await expect.poll(texts).toEqual([]);
  server.send('llm_delta', { run_id: 'run_1', llm_call_id: 'run_1.1', offset: 0, text: 'Late' });
  server.send('llm_delta', { run_id: 'run_2', llm_call_id: 'run_2.1', offset: 0, text: 'Next' });
  await expect.poll(texts).toContain('Next');
  expect(texts()).toEqual(['Next']);
  opened.close();
});
