import type { Json } from '../../../agent/context/message.ts';
import type { ReadyAgent } from '../../../agent/definition/registry.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import { ToolError } from '../../../agent/tools/tool-error.ts';
import { runsAgain, type Tool, type ToolCallContext } from '../../../agent/tools/tool.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { recordedFor } from '../recorded.ts';
import { readEval, type StoredEval } from '../store/evals.ts';
import { readRunCalls } from '../store/read-answer.ts';

/** The result of a call in the place of its tool. */
type StandIn = (tool: Tool, args: unknown, ctx: ToolCallContext) => unknown;

/** The agent of a run of an eval: what its tools return is recorded, or given, or they run if that is safe. */
export async function withStandIns(db: Database, agent: ReadyAgent, options: RunOptions): Promise<ReadyAgent> {
  const found = await readEval(db, options.eval!.id);
  const act = found ? standInOf(db, found.spec, options) : gone;
  const tools = [...agent.tools].map(([name, tool]): [string, Tool] => [
    name,
    isHarmless(tool) ? tool : stood(tool, act),
  ]);
  return { ...agent, tools: new Map(tools) };
}

/** They read what the thread has, or give the run to another agent, whose tools have stand-ins too. */
const isHarmless = ({ always, handsOver }: Tool): boolean => always === true || handsOver === true;

function stood(tool: Tool, act: StandIn): Tool {
  const { needsApproval: _, resultRefs: __, ...rest } = tool;
  return {
    ...rest,
    replay: 'safe',
    maxRetries: 0,
    execute: (args, ctx) => act(tool, args, ctx),
  };
}

function standInOf(db: Database, { tools, stubs = {} }: StoredEval, options: RunOptions): StandIn {
  if (options.continues) return onlyCalled;
  if (tools === 'stubs') return (tool) => stubFor(tool.name, stubs);
  return tools === 'live' ? live : recorded(db, { threadId: options.retry_of_thread!, runId: options.retry_of! });
}

const refuse = (type: string, message: string): never => {
  throw new ToolError(message, { type, retryable: false });
};

const gone: StandIn = () => refuse('eval_removed', 'The eval of this run was removed.');

const onlyCalled: StandIn = () => refuse('not_executed', 'Only the call is evaluated: the tool was not executed.');

const live: StandIn = (tool, args, ctx) =>
  runsAgain(tool.replay)
    ? tool.execute(args, ctx)
    : refuse(
        'not_safe',
        `The tool ${tool.name} is not safe to run in an eval: its replay is neither "safe" nor "readOnly".`,
      );

const stubFor = (name: string, stubs: Readonly<Record<string, Json>>): Json =>
  Object.hasOwn(stubs, name) ? stubs[name]! : refuse('not_stubbed', `The eval has no stub for the tool ${name}.`);

function recorded(db: Database, source: { threadId: string; runId: string }): StandIn {
  let record: ReturnType<typeof readRunCalls> | undefined;
  return async (tool, _, { threadId, runId, callIndex, round }) => {
    record ??= readRunCalls(db, source.threadId, source.runId);
    const own = await readRunCalls(db, threadId, runId);
    // the calls of this round are in the newest message; their arguments there are as the model wrote them
    const first = own.findIndex(({ message }) => message === own.at(-1)?.message);
    const call = own[first + callIndex];
    const found = call && recordedFor(await record, own.slice(0, first + callIndex), call);
    return (
      found?.result ??
      refuse(
        'not_recorded',
        `The recorded run has no such call of ${tool.name} (round ${round}, call ${callIndex + 1}).`,
      )
    );
  };
}
