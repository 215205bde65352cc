import type { Command } from 'commander';
import type { ContextRow } from '../../../agent/context/fold.ts';
import { parsePolicy } from '../../../agent/policy/read-policy.ts';
import { showProjection, messageText } from '../show-run.ts';
import { definitionIn } from '../agents-file.ts';
import { connect } from '../connect.ts';
import type { Lanefold } from '../../../lanefold/lanefold.ts';
import { asksOfCall } from '../../../runs/operations/contexts/project.ts';
import { type PolicyView } from '../../../runs/operations/contexts/types.ts';
import { UsageError } from '../errors.ts';
import { commandHelp } from '../help.ts';
import { wholeNumber, withAgents, withDatabase, withJson, type ConnectionOptions } from '../options.ts';
import { colours, print, printJson } from '../output.ts';
import { printable } from '../../../base/log/logger.ts';

interface Options extends ConnectionOptions {
  lane?: string;
  at?: number;
  limit?: number;
  policy?: string;
  model?: string;
  agents?: string;
  agent?: string;
  fullBudget?: boolean;
  explain?: boolean;
  json?: boolean;
}

export const addContext = (program: Command): Command =>
  withJson(withAgents(withDatabase(program.command('context'))))
    .argument('<thread>', 'thread id')
    .option('--lane <ref>', 'lane to show; default: the thread’s active lane')
    .option('--at <seq>', 'as of this entry, inclusive; default: now', wholeNumber(0))
    .option('--limit <n>', 'only the newest n messages, with whole tool groups', wholeNumber(1))
    .option('--policy <policy>', 'context policy to apply: a preset, or a JSON object of fields')
    .option('--model <model>', 'model whose window and tokenizer the policy uses; default: the model of the agent')
    .option(
      '--agent <name>',
      'agent whose policy, tools and settings the call has; default: the agent of the lane’s latest run',
    )
    .option(
      '--explain',
      'show why each message is sent or left out, and its tokens; default policy: the thread’s, else the agent’s',
    )
    .option('--full-budget', 'show what fits the budget, instead of what the next call sends')
    .summary('show what the model sees, now or as of an entry')
    .description(
      'Shows the context of a lane: the system prompt and the messages that the model sees next, or saw as of --at.',
    )
    .addHelpText(
      'after',
      commandHelp(
        [
          'lanefold context demo-1',
          'lanefold context demo-1 --at 12',
          'lanefold context demo-1 --explain --policy short_context',
          'lanefold context demo-1 --lane draft --json',
        ],
        ['DATABASE_URL', 'LANEFOLD_DIR', 'NO_COLOR', 'FORCE_COLOR'],
      ),
    )
    .action(async (id: string, options: Options) => {
      const projected = asksOfCall(options as PolicyView);
      const definition = await definitionIn(projected ? options.agents : undefined);
      const lanefold = await connect(options, { start: false, ...definition });
      try {
        // The context of an unknown thread or lane is empty too, so check that they exist.
        const { activeContextRef } = await lanefold.threads.peek(id);
        const contextRef = options.lane ?? activeContextRef;
        if (contextRef !== activeContextRef) await assertLane(lanefold, id, contextRef);
        const { at: atSeq, limit, policy, model, agent, fullBudget } = options;
        const which = given({ contextRef, atSeq, limit });
        if (projected) {
          const view = given({
            model,
            agent,
            fullBudget,
            policy: policy === undefined ? undefined : parsePolicy(policy),
          });
          const projection = await lanefold.contexts.project(id, { ...which, ...view, explain: true });
          if (options.json) {
            return printJson({ thread_id: id, context_ref: contextRef, at_seq: atSeq ?? null, ...projection });
          }
          return print(showProjection(projection));
        }
        const rows = await lanefold.contexts.project(id, which);
        if (options.json) {
          return printJson({ thread_id: id, context_ref: contextRef, at_seq: atSeq ?? null, messages: rows });
        }
        const when = atSeq === undefined ? 'now' : `after entry ${atSeq}`;
        print(`thread ${id}, lane ${contextRef}, ${when}: ${rows.length} messages`);
        for (const row of rows) print(`\n${heading(row)}\n${indented(row)}`);
      } finally {
        await lanefold.close();
      }
    });

const given = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

async function assertLane(lanefold: Lanefold, threadId: string, contextRef: string): Promise<void> {
  const names = (await lanefold.contexts.lanes(threadId)).map((lane) => lane.contextRef);
  if (names.includes(contextRef)) return;
  const message = `Thread ${threadId} has no lane ${JSON.stringify(contextRef)}.`;
  throw new UsageError(message, names.length > 0 ? `Its lanes: ${names.join(', ')}` : 'It has no messages yet.');
}

function heading(row: ContextRow): string {
  const c = colours();
  const role = { system: c.magenta, user: c.green, assistant: c.cyan, tool: c.yellow }[row.role] ?? c.bold;
  return `${role(row.role)} ${c.dim(`#${row.seq}${row.tool_call_id ? ` ${printable(row.tool_call_id)}` : ''}`)}`;
}

const indented = (row: ContextRow): string => messageText(row).replace(/^/gm, '  ');
