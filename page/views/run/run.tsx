import { get, post, v1 } from '../../api/client.ts';
import type {
  Entry,
  EntryPage,
  Input,
  InputPage,
  RunEvent,
  RunEventPage,
  RunNodePage,
  RunSnapshot,
  RunTree,
  Thread,
  AgentVersionList,
} from '../../api/types.ts';
import { Facts, Failure, Loading, RunStatusWords, Tag, Time } from '../../parts/basics.tsx';
import { clip, duration, number, price, tokens, amount } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { MessageBody } from '../../parts/message.tsx';
import { onDemand } from '../../parts/on-demand.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { Decision, WaitingCall } from './decision.tsx';
import type { NodeTreeProps } from './node-tree.tsx';
import { Effects, LimitWait, ToolCalls } from './tool-calls.tsx';
import { CalledBy, Tree, Waterfall } from './waterfall.tsx';

const NodeTree = onDemand<NodeTreeProps>(async () => (await import('./node-tree.tsx')).NodeTree);

const refreshMs = 1_000;
const maxEvents = 1_000;
const maxNodes = 1_000;
const maxEffects = 1_000;

interface Shown {
  run: RunSnapshot;
  events: RunEvent[];
  more: boolean;
  inputs: Input[];
  nodes: RunNodePage;
  effects: Entry[];
  tree: RunTree | undefined;
}

/** A run: what it did when, what it waits for, and how it ended. */
export function RunView({ threadId, runId }: { threadId: string; runId: string }) {
  const loaded = useRun(threadId, runId);
  if (!loaded.data) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  const { run, events, more, inputs, nodes, effects, tree } = loaded.data;
  const cancel = () => post(v1('threads', threadId, 'runs', runId, 'cancel')).then(loaded.reload);
  return (
    <article aria-labelledby="title">
      <div class="heading">
        <div>
          <p class="crumbs">
            <EvalLink threadId={threadId} />
            <a href={href('threads', threadId)}>{threadId}</a>
          </p>
          <Heading title={run.question ?? `Run of ${run.agent}`} id={run.id} />
          {tree && <CalledBy tree={tree} runId={runId} />}
        </div>
        <div class="actions">
          <RunStatusWords run={run} />
          {run.finished_at === null && (
            <Menu>
              <MenuItem onClick={cancel}>Cancel the run</MenuItem>
            </Menu>
          )}
        </div>
      </div>
      <Failure error={loaded.error} />
      {run.error && (
        <div class="failure">
          <strong>{run.error.type}</strong> {run.error.message}
        </div>
      )}
      {run.unattended && (
        <p class="notice" role="status">
          {run.unattended.message}
        </p>
      )}
      <LimitWait waiting={run.limited_by} />
      <Waits run={run} onEnded={loaded.reload} />
      <RunFacts run={run} />
      {tree && <Tree tree={tree} runId={runId} />}
      <h2>What it did</h2>
      <Waterfall run={run} events={events} />
      {more && <p class="muted">Only the first {number(maxEvents)} events are shown.</p>}
      {nodes.data.length > 0 && <NodeTree nodes={nodes.data} />}
      {nodes.next_after !== null && <p class="muted">Only the first {number(maxNodes)} nodes are shown.</p>}
      {inputs.length > 0 && <Inputs inputs={inputs} />}
      {run.result !== null && (
        <section aria-labelledby="result">
          <h2 id="result">Result</h2>
          <div class="entry assistant">
            <MessageBody message={{ role: 'assistant', content: run.result }} />
          </div>
        </section>
      )}
      <ToolCalls calls={run.tool_calls} started={tree?.runs.filter(({ parent }) => parent?.id === runId)} />
      {effects.length > 0 && <Effects threadId={threadId} calls={run.tool_calls} entries={effects} />}
    </article>
  );
}

/** What the page shows of a run, read every second until it has ended. */
function useRun(threadId: string, runId: string) {
  const path = (...parts: string[]) => v1('threads', threadId, 'runs', runId, ...parts);
  return useLoaded<Shown>(
    async (signal) => {
      // before the rest, so that what is read of a run that has ended is all of it
      const run = await get<RunSnapshot>(path(), {}, signal);
      const [events, inputs, nodes] = await Promise.all([
        get<RunEventPage>(path('events'), { limit: maxEvents }, signal),
        get<InputPage>(path('inputs'), {}, signal),
        get<RunNodePage>(path('nodes'), { limit: maxNodes }, signal),
      ]);
      const effects = run.tool_calls.length > 0 ? await effectsOf(threadId, run, events.data, signal) : [];
      const inTree = run.parent !== null || events.data.some(({ data }) => data['child'] !== undefined);
      const tree = inTree ? await get<RunTree>(path('tree'), {}, signal) : undefined;
      return { run, events: events.data, more: events.next_after !== null, inputs: inputs.data, nodes, effects, tree };
    },
    [],
    { everyMs: (shown) => (shown?.run.finished_at ? undefined : refreshMs) },
  );
}

/** Its calls that wait for a person, or for something else that a user may end. */
const Waits = ({ run, onEnded }: { run: RunSnapshot; onEnded: () => Promise<void> }) => (
  <>
    {run.approvals.map((call) => (
      <Decision
        key={`${call.round}.${call.index}`}
        threadId={run.thread_id}
        runId={run.id}
        call={call}
        onDecided={onEnded}
      />
    ))}
    {run.waits
      .filter(({ kind }) => kind !== 'approval')
      .map((wait) => (
        <WaitingCall
          key={`${wait.round}.${wait.index}`}
          threadId={run.thread_id}
          runId={run.id}
          wait={wait}
          onResolved={onEnded}
        />
      ))}
  </>
);

const RunFacts = ({ run }: { run: RunSnapshot }) => (
  <Facts
    items={[
      ['Agent', run.agent],
      ['Version', run.agent_version && <VersionName agent={run.agent} id={run.agent_version} />],
      ['Model', <span title={run.model}>{clip(run.model, 60)}</span>],
      ['Strategy', run.strategy],
      ['Lane', run.context_ref],
      // the iteration that exceeds the limit makes no call
      [
        'Model calls',
        run.max_iterations ? `${Math.min(run.iteration, run.max_iterations)} of ${run.max_iterations}` : run.iteration,
      ],
      ['Tokens', run.usage && <span class="num">{tokens(run.usage)}</span>],
      [
        'Estimated tokens',
        run.usage?.estimated_tokens && <span class="num">{number(run.usage.estimated_tokens)}</span>,
      ],
      ['Cached tokens', run.usage?.cache_read_tokens && <span class="num">{number(run.usage.cache_read_tokens)}</span>],
      [
        'Cost',
        run.usage && (
          <span class="num" title={run.cost_by_model.map(rates).join('\n')}>
            {price(run)}
          </span>
        ),
      ],
      ['Duration', run.duration_ms === null ? null : duration(run.duration_ms)],
      [
        'Ended by',
        run.termination_reason && (
          <span class={run.termination_reason === 'final_answer' ? '' : 'bad'}>{run.termination_reason}</span>
        ),
      ],
      ['Finish reason', run.finish_reason && <span class={run.truncated ? 'bad' : ''}>{run.finish_reason}</span>],
      ['Accepted', <Time at={run.created_at} />],
      ['Worker', run.worker && <code>{run.worker.id}</code>],
      ['Job', <JobLink job={run.job} />],
    ]}
  />
);

/** The effects of a run follow its first answer in the log; effects of later runs come after them. */
async function effectsOf(threadId: string, { id }: RunSnapshot, events: RunEvent[], signal: AbortSignal) {
  const answered = events.find(({ kind }) => kind === 'llm_completed');
  if (!answered) return [];
  const query = { kind: 'ai_state_change', after: Number(answered.data['seq']), limit: maxEffects };
  const { data } = await get<EntryPage>(v1('threads', threadId, 'entries'), query, signal);
  return data.filter(({ run_id: run }) => run === id);
}

const JobLink = ({ job }: { job: RunSnapshot['job'] }) => (
  <a href={`/admin/queues/queue/${encodeURIComponent(job.queue)}/${encodeURIComponent(job.id)}`}>in Bull Board</a>
);

const Inputs = ({ inputs }: { inputs: Input[] }) => (
  <section aria-labelledby="inputs">
    <h2 id="inputs">Steering</h2>
    <ul class="plain">
      {inputs.map((input) => (
        <li key={input.id} class="entry user">
          <div class="entry-head">
            <span class="role">{input.kind}</span>
            <Tag bad={input.status === 'dropped'}>{input.status}</Tag>
            <span class="muted">{input.by}</span>
            <Time at={input.created_at} />
          </div>
          <MessageBody message={{ role: 'user', content: input.content }} />
        </li>
      ))}
    </ul>
  </section>
);

/** Leads back to the case that a run answers, if an eval has made its thread. */
export function EvalLink({ threadId }: { threadId: string }) {
  const loaded = useLoaded<Thread>((signal) => get(v1('threads', threadId), {}, signal), []);
  const { eval: id, eval_item: no, case: caseId } = loaded.data?.metadata ?? {};
  if (typeof no !== 'number') return null;
  return (
    <>
      <a href={href('evals', String(id))}>Eval</a> › <a href={href('evals', String(id), String(caseId))}>Case</a> ›{' '}
    </>
  );
}

type ModelCost = RunSnapshot['cost_by_model'][number];

/** What a run spent on a model and at which price, in words. */
export function rates({
  model,
  input_tokens,
  output_tokens,
  cost,
  price: from,
  per_million: rates,
}: ModelCost): string {
  const tokens = `${model}: ${amount(input_tokens)} + ${amount(output_tokens)} tokens`;
  if (cost === null) return `${tokens}, price unknown`;
  const listed = Object.entries(rates ?? {}).map(([kind, rate]) => `${kind.replace('_', ' ')} $${rate}`);
  const dollars = price({ cost, unpriced_tokens: 0 });
  if (from === 'own') return `${tokens}, ${dollars} at your own price`;
  return `${tokens}, ${dollars} at the list price${listed.length > 0 ? ` (per million: ${listed.join(', ')})` : ''}`;
}

/** A version by its label, then its id; by its id alone for a key that may not list the versions. */
export function VersionName({ agent, id }: { agent: string; id: string }) {
  const loaded = useLoaded<AgentVersionList>(
    (signal) => get(v1('agents', agent, 'versions'), { hours: 1 }, signal),
    [agent],
  );
  return (
    <>
      {loaded.data?.data.find((one) => one.id === id)?.label} <code title={id}>{id.slice(0, 10)}</code>
    </>
  );
}
