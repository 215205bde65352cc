import { DurableStream, IdempotentProducer, stream } from '@durable-streams/client';
import { createLanefold, defineAgent } from 'lanefold';
import { model } from '../model.ts';

const lanefold = await createLanefold({ agents: [defineAgent({ name: 'clerk', model })], migrate: true });
await lanefold.startWorker();
const server = await lanefold.startServer({ port: 0 });
const thread = await lanefold.threads.create();
const run = await lanefold.runs.enqueue({ agent: 'clerk', input: 'Where is my order?', threadId: thread.id });

const url = `${server.url}/v1/threads/${thread.id}/runs/${run.id}/stream`;

/** Reads from an offset; `most`: stops after so many batches, as a process that ends. */
async function read(offset: string, most = Infinity): Promise<string> {
  const response = await stream<{ event_seq: number; kind: string }>({ url, offset, live: 'sse' });
  let batches = 0;
  await new Promise<void>((resolve, reject) => {
    const unsubscribe = response.subscribeJson(({ items, offset: reached, streamClosed }) => {
      for (const { event_seq: seq, kind } of items) console.log(`${seq} ${kind}`);
      offset = reached;
      batches += 1;
      if (!streamClosed && batches < most) return;
      unsubscribe();
      response.cancel();
      resolve();
    });
    response.closed.then(resolve, reject);
  });
  return offset;
}

const stoppedAt = await read('-1', 1);
console.log(`stopped at ${stoppedAt}`);
await read(stoppedAt);

const notes = await DurableStream.create({
  url: `${server.url}/v1/threads/${thread.id}/streams/notes`,
  contentType: 'application/json',
});
const producer = new IdempotentProducer(notes, 'notes', { autoClaim: true });
producer.append(JSON.stringify({ note: 'Asked for the order.' }));
await producer.flush();
await producer.detach();
console.log('notes', JSON.stringify(await (await notes.stream({ live: false })).json()));

await lanefold.close();
