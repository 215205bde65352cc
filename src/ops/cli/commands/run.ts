import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import type { Run, RunRef } from '../../../database/store/run/run.ts';
import type { ContentInput } from '../../../agent/models/accept-content.ts';
import type { StreamItem } from '../../../runs/streams/stream.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import { chooseAgent, loadAgentsFile } from '../agents-file.ts';
import { demoModel } from '../assistant.ts';
import { connect } from '../connect.ts';
import { drawTree, StreamText, readableAnswer } from '../show-run.ts';
import { exitCodes, report, UsageError, Exit, stopSignal } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { parseJsonObject, withAgents, withJson, withQueue, type ConnectionOptions } from '../options.ts';
import { colours, note, print, printJson } from '../output.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { oneLine, printable } from '../../../base/log/logger.ts';
import { privatePrefix } from '../../../database/store/run/private-fleets.ts';

interface Options extends ConnectionOptions {
  agents?: string;
  agent?: string;
  model?: string;
  strategy?: string;
  strategyOptions?: object;
  tree?: boolean;
  image?: string[];
  thread?: string;
  system?: string;
  busy?: 'reject' | 'wait' | 'interrupt';
  json?: boolean;
}

export const addRun = (program: Command): Command =>
  withJson(withAgents(withQueue(program.command('run'))))
    .argument('<question>', 'the user message')
    .option('--agent <name>', 'agent to ask; required if the agents file has several')
    .option('--model <id>', 'provider:model; default: the agent’s model')
    .option(
      '--strategy <name>',
      'react, cot, cod, aot, tot, got, trm, adaptive or your own; default: the agent’s strategy',
    )
    .option('--strategy-options <json>', 'options of the strategy, such as {"maxDepth": 2}', parseJsonObject)
    .option('--tree', 'draw the findings of the strategy as a tree')
    .option('--image <file or URL>', 'image to ask about; repeat the option for several', (one, all: string[] = []) => [
      ...all,
      one,
    ])
    .option('--thread <id>', 'thread to continue, created if missing; default: a new thread')
    .option('--system <text>', 'system prompt of a new thread')
    .addOption(
      new Option('--busy <how>', 'if the thread has an active run: fail (default), wait for it, or cancel it').choices([
        'reject',
        'wait',
        'interrupt',
      ]),
    )
    .summary('ask an agent and wait for the answer')
    .description(
      'Enqueues one run, executes it in this process and prints the answer. Without --agents it asks a built-in ' +
        `assistant with a calculator and a clock; its model, ${demoModel}, needs no API key and no network. ` +
        'Ctrl-C cancels the run.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold run "What is 12 * (3 + 4)?"',
          'lanefold run "And in UTC?" --thread demo-1 --model openai:gpt-5-mini',
          'lanefold run "What does it say?" --image receipt.jpg --model openai:gpt-5-mini',
          'lanefold run "Plan a trip to Bergen." --strategy tot --tree --model openai:gpt-5-mini',
          'lanefold run "Where is my order?" --agents agents.ts --agent support --json',
        ],
        [
          'DATABASE_URL',
          'REDIS_URL',
          'LANEFOLD_AGENTS',
          'LANEFOLD_DIR',
          'OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY',
        ],
      ),
    )
    .action(ask);

/** Executes the run in this process, and prints the answer. */
async function ask(question: string, options: Options): Promise<void> {
  // setting the schedules is for the workers of a fleet, not for this one
  const { schedules: _, ...definition } = await loadAgentsFile(options.agents);
  const chosen = chooseAgent(definition, options.agent, options.agents);
  const agent = options.model ? { ...chosen, model: options.model } : chosen;
  const input = await toInput(question, options.image);
  if (!options.agents && !options.model)
    note(`model ${demoModel}: offline and scripted; choose another with --model openai:gpt-5-mini`);
  // A private queue, because other workers may not know this agent, and this process may not know theirs.
  const queuePrefix = `${privatePrefix}${randomBytes(4).toString('hex')}`;
  const lanefold = await connect(options, {
    start: true,
    ...definition,
    agents: [agent],
    queuePrefix,
    queueShards: 1,
    privateQueue: true,
  });
  try {
    const threadId = await openThread(lanefold, options);
    await lanefold.startWorker({
      concurrency: 1,
      onRunEnd: ({ threadId, runId: id, status }) =>
        void (status === 'suspended' && notePendingApprovals(lanefold, { threadId, id }).catch(() => {})),
    });
    const { model, strategy, strategyOptions, busy } = options;
    // From here on, no other process would finish the run.
    const stopped = stopSignal();
    const accepted = await lanefold.runs.enqueue({
      agent: agent.name,
      input,
      threadId,
      ...(model ? { model } : {}),
      ...(strategy ? { strategy } : {}),
      ...(strategyOptions ? { strategyOptions } : {}),
      ...(busy ? { busy } : {}),
    });
    void stopped.then(async (signal) => {
      note(`${signal}: cancelling the run`);
      await lanefold.runs.cancel(accepted, 'interrupted').catch((error: unknown) => report(error));
    });
    const live = process.stdout.isTTY && !options.json;
    if (live) await showLive(lanefold.runs.stream(accepted, { entries: true }));
    const run = await lanefold.runs.wait(accepted, { onUnattended: ({ message }) => note(printable(message)) });
    if (options.tree) (options.json ? note : print)(drawTree(await lanefold.runs.nodes(run, { limit: 10_000 })));
    show(run, { json: options.json === true, live });
  } finally {
    await lanefold.close();
  }
}

/** Shows the tool calls a run waits for, and how to approve them. The command keeps waiting. */
async function notePendingApprovals(lanefold: Lanefold, run: RunRef): Promise<void> {
  const { approvals } = await lanefold.runs.get(run);
  for (const { call, name, arguments: args } of approvals) {
    note(printable(`the run waits for approval of ${name}(${JSON.stringify(args)}); in another terminal:`));
    note(`  lanefold approve ${run.threadId} ${run.id} ${call}   (or deny)`);
  }
}

async function toInput(question: string, images: string[] = []): Promise<ContentInput> {
  if (images.length === 0) return question;
  const parts = images.map(async (image) => ({ type: 'image' as const, image: await readImage(image) }));
  return [{ type: 'text', text: question }, ...(await Promise.all(parts))];
}

async function readImage(image: string): Promise<string | Uint8Array> {
  if (/^(https?|data):/i.test(image)) return image;
  try {
    return await readFile(image);
  } catch (error) {
    throw new UsageError(`Cannot read the image ${image}: ${(error as Error).message}`, 'Pass a file or a URL.');
  }
}

async function openThread(lanefold: Lanefold, { thread, system }: Options): Promise<string> {
  const id = thread ?? (await import('../../../base/checks/ids.ts')).newThreadId();
  try {
    await lanefold.threads.create({ id, ...(system === undefined ? {} : { systemPrompt: system }) });
  } catch (error) {
    if (!isLanefoldError(error, 'thread_exists')) throw error;
    if (system !== undefined)
      throw new UsageError(
        `Thread ${id} already exists; --system only applies to new threads.`,
        'Omit --system, or use another thread id.',
      );
  }
  return id;
}

/** On a terminal, shows the answer while it is generated. */
async function showLive(items: AsyncIterable<StreamItem>): Promise<void> {
  const text = new StreamText();
  for await (const item of items) {
    if (item.type === 'unattended') note(printable(item.message));
    else process.stdout.write(text.of(item));
  }
}

function show(run: Run, { json, live }: { json: boolean; live: boolean }): void {
  const c = colours(process.stderr);
  const answer = run.status === 'completed' ? readableAnswer(run.result) : undefined;
  if (json) printJson(snakeKeys(run));
  // on a terminal, a text answer has already been shown as it arrived
  else if (answer !== undefined && (!live || typeof run.result !== 'string')) print(printable(answer));
  note(c.dim(`thread ${run.threadId}, run ${run.id}: ${run.status} after ${run.durationMs} ms`));
  if (run.truncated) note(c.yellow(`The answer is not whole: the model was cut (${run.finishReason}).`));
  if (answer !== undefined) return;
  const endings: Partial<Record<Run['status'], string>> = {
    completed: 'ended without an answer',
    cancelled: 'was cancelled',
  };
  const how = endings[run.status] ?? run.status;
  const why = oneLine(run.error?.message ?? run.terminationReason ?? '');
  note(`lanefold: The run ${how}: ${why} [${run.error?.type ?? run.status}]`);
  throw new Exit(exitCodes.failed);
}
