import { effectiveAgent, type LoggedConfig } from '../agents/effective.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { RunOptions } from '../agents/run-options.ts';
import type { Json, JsonObject } from '../context/message.ts';
import type { Database } from '../postgres/pool.ts';
import { strategies } from '../strategies/registry.ts';
import { selectRun, toRun, type Run, type RunRow } from '../store/run-row.ts';

export interface RunToolCall {
  round: number;
  /** In its round, from 0. */
  index: number;
  /** The provider's id; it may repeat. */
  id: string;
  name: string;
  arguments: Json;
  status: string;
  /** What the model was told; null while it is open. */
  result: Json;
  attempts: number;
  durationMs: number | null;
}

/** A run with what it is about. What the model sees is its lane's context: `contexts.project`. */
export interface RunSnapshot extends Run {
  /** What it waits for: `llm`, `tools`, `output` (a repair); null before its first step and after its end. */
  phase: string | null;
  /** The model call under way, or the last one a step was committed for. */
  callId: string | null;
  /** Model calls at most, and names of its tools; null where this process does not know the agent. */
  maxIterations: number | null;
  tools: string[] | null;
  /** Every call so far, in call order. */
  toolCalls: RunToolCall[];
  /** Inputs it has been sent and has not taken yet. */
  queuedInputs: number;
  /** How the answer met the output contract: `status` `validated` or `repaired`, `attempt`; null without a contract. */
  output: JsonObject | null;
  /** What the strategy reads from the answer besides the result: of `cot` and `cod` `steps`, `conclusion`, `raw_response`. */
  details: JsonObject | null;
}

interface More {
  phase: string | null;
  call_no: number | null;
  options: RunOptions | null;
  config: LoggedConfig | null;
  tool_calls: RunToolCall[] | null;
  queued_inputs: number;
  output: JsonObject | null;
  answer: Json;
}

const selectMore = `select json_build_object('phase', r.state ->> 'phase', 'call_no', r.state -> 'call_no', 'options', r.options,
  'config', (select json_object_agg(field, value) from lanefold.lane_config_at(r.thread_id, r.context_ref, r.user_seq)),
  'tool_calls', (select json_agg(json_build_object('round', c.round, 'index', c.call_index, 'id', c.tool_call_id, 'name', c.name,
      'arguments', c.arguments, 'status', c.status, 'result', c.result, 'attempts', c.attempts, 'durationMs', c.duration_ms)
      order by c.round, c.call_index)
    from lanefold.run_tool_call c where c.thread_id = r.thread_id and c.run_id = r.id),
  'queued_inputs', (select count(*) from lanefold.pending_input i where i.thread_id = r.thread_id and i.run_id = r.id and i.status = 'queued'),
  'output', (select e.data -> 'output' from lanefold.run_event e
    where e.thread_id = r.thread_id and e.run_id = r.id and e.kind = 'request_completed'),
  'answer', (select e.payload -> 'content' from lanefold.thread_entry e
    where e.thread_id = r.thread_id and e.run_id = r.id and e.role = 'assistant' order by e.seq desc limit 1)) as more
  from lanefold.run r where r.thread_id = $1 and r.id = $2`;

/** A run as it stands, or undefined. */
export async function readSnapshot(
  db: Database,
  agents: AgentRegistry,
  threadId: string,
  id: string,
): Promise<RunSnapshot | undefined> {
  const [row] = await db.query<RunRow>('get_run', `${selectRun} where thread_id = $1 and id = $2`, [threadId, id]);
  const [found] = row ? await db.query<{ more: More }>('get_run_more', selectMore, [threadId, id]) : [];
  if (!row || !found) return undefined;
  const run = toRun(row);
  const { more } = found;
  const known = agents.has(run.agent);
  const agent = known && tryOr(() => effectiveAgent(agents, agents.get(run.agent), more.config, more.options));
  const machine = Object.hasOwn(strategies, run.strategy) ? strategies[run.strategy] : undefined;
  return {
    ...run,
    phase: more.phase,
    callId: more.call_no === null ? null : `${run.id}.${more.call_no}`,
    maxIterations: agent ? agent.maxIterations : null,
    tools: agent ? [...(machine?.tools === false ? [] : agent.tools.keys())] : null,
    toolCalls: more.tool_calls ?? [],
    queuedInputs: more.queued_inputs,
    output: more.output,
    details: typeof more.answer === 'string' ? (machine?.details?.(more.answer) ?? null) : null,
  };
}

/** Tools and transformers may have left this process since the run was accepted. */
function tryOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
