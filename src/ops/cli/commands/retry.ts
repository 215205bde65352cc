import { Option, type Command } from 'commander';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Runs } from '../../../runs/operations/runs/runs.ts';
import { connect } from '../connect.ts';
import { commandHelp } from '../help.ts';
import { withJson, withQueue, withAgents, type ConnectionOptions } from '../options.ts';
import { print, printJson } from '../output.ts';
import { parsePolicy } from '../../../agent/policy/read-policy.ts';
import { definitionIn } from '../agents-file.ts';

interface Options extends ConnectionOptions, NonNullable<Parameters<Runs['retry']>[1]> {
  json?: boolean;
}

export const addRetry = (program: Command): Command =>
  withJson(withQueue(program.command('retry')))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'run id')
    .option('--model <id>', 'model to use instead of the run’s')
    .option('--fresh-children', 'ask other agents again, instead of taking the answers that they gave the run')
    .addOption(
      new Option('--busy <what>', 'if the thread has an active run: fail (default), wait for it, or cancel it').choices(
        ['reject', 'wait', 'interrupt'],
      ),
    )
    .summary('ask an ended run’s question again, in the current context of its lane')
    .description(
      'Enqueues a new run of the same agent with the same input and options, in the current context of the lane. A worker that ' +
        'knows the agent executes it; follow it with `lanefold tail`.',
    )
    .addHelpText(
      'after',
      commandHelp(
        ['lanefold retry support-42 run_01k7…', 'lanefold retry support-42 run_01k7… --model openai:gpt-5 --busy wait'],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, id: string, options: Options) => {
      const lanefold = await connect(options, { start: false });
      try {
        const { model, busy, freshChildren } = options;
        const run = await lanefold.runs.retry({ threadId, id }, omitUndefined({ model, busy, freshChildren }));
        if (options.json) return printJson(snakeKeys({ ...run }));
        print(`${run.id} is ${run.status}`);
      } finally {
        await lanefold.close();
      }
    });

interface RerunFlags extends ConnectionOptions {
  agents?: string;
  id?: string;
  agentVersion?: string;
  model?: string;
  prompt?: string;
  policy?: string;
  freshChildren?: boolean;
  json?: boolean;
}

export const addRerun = (program: Command): Command =>
  withJson(withAgents(withQueue(program.command('rerun'))))
    .argument('<thread>', 'thread id')
    .argument('<run>', 'run id')
    .option('--agent-version <label>', 'version of the agent to ask instead: a label or an id; needs --agents')
    .option('--model <id>', 'model to use instead of the run’s')
    .option('--prompt <text>', 'system prompt to use instead of the lane’s')
    .option('--policy <policy>', 'context policy to use instead of the run’s: a preset, or a JSON object of fields')
    .option('--fresh-children', 'ask other agents again, instead of taking the answers that they gave the run')
    .option('--id <id>', 'id of the fork; default: a generated id')
    .summary('ask a run’s question again, on a fork of its lane as the lane was then')
    .description(
      'Forks the lane of a run as it was before its question and enqueues the question there, with another model, prompt ' +
        'or policy if given. A worker that knows the agent executes it; compare the answers with `lanefold diff`.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold rerun support-42 run_01k7… --model openai:gpt-5',
          'lanefold rerun support-42 run_01k7… --prompt "Be brief."',
          'lanefold rerun support-42 run_01k7… --agents agents.ts --agent-version b',
        ],
        ['DATABASE_URL', 'REDIS_URL', 'LANEFOLD_AGENTS', 'LANEFOLD_QUEUE_SHARDS', 'LANEFOLD_DIR'],
      ),
    )
    .action(async (threadId: string, runId: string, options: RerunFlags) => {
      const definition = await definitionIn(options.agents);
      const lanefold = await connect(options, { start: false, ...definition });
      try {
        const { id, agentVersion: version, model, prompt: systemPrompt, policy, freshChildren } = options;
        const contextPolicy = policy === undefined ? undefined : parsePolicy(policy);
        const asked = omitUndefined({ threadId: id, version, model, systemPrompt, contextPolicy, freshChildren });
        const run = await lanefold.runs.rerun({ threadId, id: runId }, asked);
        if (options.json) return printJson(snakeKeys({ ...run }));
        print(`${run.id} is ${run.status} on thread ${run.threadId}`);
      } finally {
        await lanefold.close();
      }
    });
