import { createLanefold, defineAgent } from 'lanefold';
import { model } from '../model.ts';

const agents = [defineAgent({ name: 'writer', model })];
// A separate queue: other workers on this database do not know the agent.
const lanefold = await createLanefold({ agents, migrate: true, queuePrefix: 'example-lanes', privateQueue: true });

const { id: threadId } = await lanefold.threads.create({ systemPrompt: 'Answer in one short sentence.' });
const ask = async (input: string, contextRef = 'default') => {
  const run = await lanefold.runs.enqueue({ agent: 'writer', input, threadId, contextRef });
  const { status, result, error } = await lanefold.runs.wait(run, { timeoutMs: 120_000 });
  if (status !== 'completed') throw new Error(error?.message ?? status);
  return result;
};
const show = async (title: string) => {
  console.log(`\n${title}`);
  for (const lane of await lanefold.contexts.lanes(threadId)) {
    const rows = await lanefold.contexts.project(threadId, { contextRef: lane.contextRef });
    console.log(`  ${lane.contextRef}: ${rows.map((row) => row.role).join(' ')}`);
  }
};

try {
  await lanefold.startWorker();

  await ask('We are naming a database. Candidates: Heron, Otter.');
  await ask('List five more names, only animals.', 'scratch');
  await show('Two lanes of one thread, which do not see each other:');

  // The main lane gets the outcome of the scratch lane as one message, not its whole conversation.
  await lanefold.contexts.replace(threadId, {
    entries: [
      { role: 'user', content: 'We are naming a database. The short list is Heron, Otter and Marten.' },
      { role: 'assistant', content: 'Noted.' },
    ],
  });
  await lanefold.contexts.reset(threadId, { contextRef: 'scratch' });
  await show('The main lane replaced by a summary, the scratch lane reset:');

  // A run that names no lane goes to the active one.
  await lanefold.contexts.switch(threadId, 'scratch');
  const { activeContextRef, rev } = await lanefold.threads.get(threadId);
  console.log(`\nActive lane: ${activeContextRef}`);

  await ask('Which of them is shortest?');
  await show('The next run sees the summary:');

  const before = await lanefold.contexts.project(threadId, { contextRef: 'default', atSeq: 2 });
  console.log(`\nNothing is lost: after entry 2 of ${rev}, the main lane was`);
  for (const row of before) console.log(`  ${row.role}: ${JSON.stringify(row.content)}`);
} finally {
  await lanefold.close();
}
