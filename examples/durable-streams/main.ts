import { DurableStream, IdempotentProducer, stream } from '@durable-streams/client';
import { createLanefold, defineAgent } from 'lanefold';
import { model } from '../model.ts';

const lanefold = await createLanefold({ agents: [defineAgent({ name: 'clerk', model })], migrate: true });
await lanefold.startWorker();
const server = await lanefold.startServer({ port: 0 });
const thread = await lanefold.threads.create();
const run = await lanefold.runs.enqueue({ agent: 'clerk', input: 'Where is my order?', threadId: thread.id });

const url = `${server.url}/v1/threads/${thread.id}/runs/${run.id}/stream`;

interface RunEvent {
  event_seq: number;
  kind: string;
}
const print = ({ event_seq: seq, kind }: RunEvent) => console.log(`${seq} ${kind}`);

// what there is by now
const first = await stream<RunEvent>({ url, offset: '-1', live: false });
for (const event of await first.json()) print(event);

// a process that starts later needs only the offset: it gets the rest, and ends with the run
console.log(`continue at ${first.offset}`);
const rest = await stream<RunEvent>({ url, offset: first.offset, live: 'sse' });
for await (const event of rest.jsonStream()) print(event);

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
