/** What a newcomer writes, as modules of each kind; `load` is how the package gets in. */
const asks = (load: string, agent: string) => `${load}
(async () => {
  const support = defineAgent({ name: 'greeter', model: 'scripted:["Good day"]'${agent} });
  const lanefold = await createLanefold({ agents: [support] });
  await lanefold.startWorker();
  const run = await lanefold.runs.enqueue({ agent: 'greeter', input: 'Hello' });
  console.log((await lanefold.runs.wait(run)).result);
  await lanefold.close();
})();
`;

const imported = `import { createLanefold, defineAgent } from 'lanefold';`;

export const programs: Record<string, string> = {
  'plain.mjs': asks(imported, ''),
  'common.cjs': asks(`const { createLanefold, defineAgent } = require('lanefold');`, ''),
  'typed.ts': asks(`${imported}\nconst instructions: string = 'Be polite.';`, ', instructions'),
};

/** Uses what the types promise; compiled, never run. */
export const typed = `import { createLanefold, defineAgent, defineTool, type ToolCallContext } from 'lanefold';
import { createChatHandler } from 'lanefold/chat';
import { simulate } from 'lanefold/testing';
import { z } from 'zod';

const add = defineTool({
  name: 'add',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }, { state }: ToolCallContext<{ last?: number }>) => a + b + (state.last ?? 0),
});
const calc = defineAgent({ name: 'calc', model: 'scripted:demo', tools: [add], output: { schema: z.object({ sum: z.number() }) } });

export const main = async (): Promise<number | undefined> => {
  const lanefold = await createLanefold({ agents: [calc] });
  const run = await lanefold.runs.enqueue({ agent: 'calc', input: '1 + 2' });
  // @ts-expect-error there is no such agent
  await lanefold.runs.enqueue({ agent: 'calculator', input: '1 + 2' });
  const { result } = await lanefold.runs.wait(run);
  void [createChatHandler, simulate];
  return result?.sum;
};
`;

/** Drizzle's own types do not compile without `skipLibCheck`, whoever imports them. */
export const typedTables = `import { thread } from 'lanefold/schema';\n\nexport const ids = [thread.id.name];\n`;

/** Every mistake of an hour, and the code that it is told; prints \`name: code: message\`. */
export const mistakes = `import { createLanefold, defineAgent } from 'lanefold';
import pg from 'pg';

const said = async (name, call) => {
  const error = await Promise.race([
    (async () => call())().then(() => ({ code: 'accepted' }), (error) => error),
    // unref: the program ends with its last mistake
    new Promise((resolve) => setTimeout(resolve, 30_000, { code: 'hangs' }).unref()),
  ]);
  console.log(name + ': ' + error.code + ': ' + error.message + ' ' + error.hint);
};
const agent = { name: 'a', model: 'scripted:echo' };
await said('instruction', () => defineAgent({ ...agent, instruction: 'x' }));
await said('databaseURL', () => createLanefold({ databaseURL: 'postgres://x' }));
await said('notaurl', () => createLanefold({ databaseUrl: 'notaurl' }));
await said('mysql', () => createLanefold({ databaseUrl: 'mysql://localhost/x' }));
await said('redis', () => createLanefold({ redisUrl: 'http://x' }));
const lanefold = await createLanefold({ agents: [agent] });
await said('requestID', () => lanefold.runs.enqueue({ agent: 'a', input: 'x', requestID: 'r' }));
await said('agent', () => lanefold.runs.enqueue({ agent: 'b', input: 'x' }));
await said('blank', () => lanefold.runs.enqueue({ agent: 'a', input: '\\u00a0' }));
await said('wait', () => lanefold.runs.wait('run_x'));
await said('port', () => lanefold.startServer({ port: 99_999 }));
const pool = new pg.Pool({ connectionString: lanefold.databaseUrl });
await said('pool', () => lanefold.runs.enqueue({ agent: 'a', input: 'x' }, { tx: pool }));
await pool.end();
await lanefold.close();
await said('closed', () => lanefold.runs.list());
`;

/** What each of those mistakes is told. */
export const told: Record<string, RegExp> = {
  instruction: /^invalid_agent: .*Did you mean "instructions"/,
  databaseURL: /^invalid_input: .*Did you mean "databaseUrl"/,
  notaurl: /^invalid_input: .*not a valid URL/,
  mysql: /^invalid_input: .*scheme "mysql:"/,
  redis: /^invalid_input: .*scheme "http:"/,
  requestID: /^invalid_input: .*Did you mean "requestId"/,
  agent: /^unknown_agent: /,
  blank: /^empty_content: /,
  wait: /^invalid_input: /,
  port: /^invalid_input: .*from 0 to 65535/,
  pool: /^not_a_transaction: /,
  closed: /^lanefold_closed: /,
};

/** Command lines with a mistake: what they print on stderr, and their exit code. */
export const commandLines: [string[], Record<string, string>, number, RegExp][] = [
  [['run', 'x'], { DATABASE_URL: 'notaurl' }, 2, /not a valid URL/],
  [['run', 'x'], { DATABASE_URL: 'mysql://localhost/x' }, 2, /scheme "mysql:"/],
  [['api', '--port', '99999'], {}, 2, /from 0 to 65535/],
  [['context', 'greeting', '--lane', 'nope'], {}, 2, /nope/],
  [['wroker'], {}, 2, /Did you mean worker/],
  [['worker', '--agents', 'none.ts'], {}, 2, /does not exist/],
];
