import type { CallToolResult, InputRequests } from '@modelcontextprotocol/server';
import type { RunJson, RunName } from '../api.ts';
import { whoEnds, type Rights } from '../runs/rights.ts';
import { openCalls } from '../runs/state.ts';

/** A client should not ask more often. */
const pollIntervalMs = 1_000;

export interface TaskJson {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'cancelled';
  statusMessage: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** Null: runs are kept. */
  ttlMs: null;
  pollIntervalMs: number;
}

export interface DetailedTask extends TaskJson {
  inputRequests?: InputRequests;
  result?: CallToolResult & { resultType: 'complete' };
}

/** The id of a task: its tool and its run. Ids of agents, threads and runs have no slash. */
export const taskId = (tool: string, { thread_id: threadId, run_id: runId }: RunName): string =>
  `${tool}/${threadId}/${runId}`;

export function readTaskId(id: string): { tool: string; run: RunName } | undefined {
  const [tool, threadId, runId, ...more] = id.split('/');
  return tool && threadId && runId && more.length === 0
    ? { tool, run: { thread_id: threadId, run_id: runId } }
    : undefined;
}

/** The answer to a tool call that has become a task; the run is stored by then. */
export const createdTask = (tool: string, run: RunJson): CallToolResult =>
  ({ resultType: 'task', ...taskOf(tool, run) }) as unknown as CallToolResult;

/**
 * A run as a task. A failed run is a completed task whose result is an error, because `failed` stands for errors of the
 * protocol. It asks for input only with `requests`; otherwise it is working until another caller has decided.
 */
export function taskOf(tool: string, run: RunJson, requests?: InputRequests): TaskJson {
  const { status, created_at: createdAt, waits } = run;
  const times = [createdAt, run.started_at, run.finished_at, ...waits.map(({ since }) => since)];
  return {
    taskId: taskId(tool, { thread_id: run.thread_id, run_id: run.id }),
    status: statusOf(run, requests),
    statusMessage: run.unattended?.message ?? `The run is ${status}.`,
    createdAt,
    lastUpdatedAt: times.filter((time) => time !== null).reduce((a, b) => (a > b ? a : b)),
    ttlMs: null,
    pollIntervalMs,
  };
}

/**
 * A task with what its status adds.
 *
 * @param result what the tool would have returned; for runs that have ended
 */
export function detailedTask(
  tool: string,
  run: RunJson,
  { requests, rights, result }: { requests: InputRequests | undefined; rights: Rights; result: () => CallToolResult },
): DetailedTask {
  const task = taskOf(tool, run, requests);
  if (task.status === 'completed') return { ...task, result: { ...result(), resultType: 'complete' } };
  if (task.status === 'input_required') return { ...task, inputRequests: requests! };
  const who = whoEnds(openCalls(run), rights);
  return who === '' ? task : { ...task, statusMessage: `${task.statusMessage} ${who}` };
}

function statusOf(run: RunJson, requests: InputRequests | undefined): TaskJson['status'] {
  if (run.status === 'completed' || run.status === 'failed') return 'completed';
  if (run.status === 'cancelled') return 'cancelled';
  return requests ? 'input_required' : 'working';
}
