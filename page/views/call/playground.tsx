import { useSignal, type Signal } from '@preact/signals';
import { get, post, v1 } from '../../api/client.ts';
import type { AgentList, Case, CaseList, Eval, EvalItem, EvalItemList, Message, ModelCall } from '../../api/types.ts';
import { Facts, Failure, Loading } from '../../parts/basics.tsx';
import { duration, number } from '../../parts/format.ts';
import { MessageBody } from '../../parts/message.tsx';
import { route, setQuery } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { ItemCard, useModels } from '../answers/item-card.tsx';
import { KeepCase } from './keep-case.tsx';
import { KeepVersion } from './keep-version.tsx';
import { changesOf, formsOf, recordedForm, type Change, type Form } from './trial.ts';

export interface PlaygroundProps {
  call: ModelCall;
}

/** The dataset of what was tried, so that a trial needs no decision about where to keep its case. */
const dataset = 'playground';
const names = ['A', 'B', 'C'];
const refreshMs = 1_000;

/**
 * Asks for the answer of a call again, or for its whole run, under up to three variants: an eval of one case. The address
 * names the eval, so a reload or a colleague shows the same answers.
 */
export function Playground({ call }: PlaygroundProps) {
  const id = route.value.query.get('trial');
  const first = useLoaded<{ trial?: Eval }>(
    async (signal) => (id === null ? {} : { trial: await get<Eval>(v1('evals', id), {}, signal) }),
    [],
  );
  if (!first.data && !first.error) return <Loading />;
  return (
    <>
      <Failure error={first.error} />
      <Bench call={call} first={first.data?.trial} />
    </>
  );
}

function Bench({ call, first }: { call: ModelCall; first: Eval | undefined }) {
  const asked = route.value.query.get('asks') === 'run' ? 'run' : 'call';
  const made = useSignal<Omit<AnswersProps, 'call'> | undefined>(first && { trial: first, asks: asked });
  const asks = useSignal<Case['kind']>(asked);
  const tools = useSignal(String(first?.spec['tools'] ?? 'recorded'));
  const forms = useSignal<Form[]>(first ? formsOf(call, first) : [recordedForm(call)]);
  const busy = useSignal(false);
  const error = useSignal<Error | undefined>(undefined);
  const run = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    error.value = undefined;
    try {
      const started = await post<Eval>('/v1/evals', {
        dataset,
        variants: forms.value.map((form, at) => ({ name: names[at]!, ...changesOf(call, form) })),
        case_ids: [await caseOf(call, asks.value)],
        tools: tools.value,
        concurrency: names.length,
        // ahead of other evals: a person waits for the answers
        priority: 1,
        fresh: true,
      });
      made.value = { trial: started, asks: asks.value };
      setQuery({ trial: started.id, asks: asks.value });
    } catch (caught) {
      error.value = caught as Error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <form class="playground" onSubmit={(event) => void run(event)}>
        <Settings asks={asks} tools={tools} />
        <Variants call={call} forms={forms} />
        <Failure error={error.value} />
        <div class="actions">
          <button type="submit" class="primary" disabled={busy.value}>
            Run
          </button>
          {forms.value.length < names.length && (
            <button type="button" onClick={() => (forms.value = [...forms.value, forms.value.at(-1)!])}>
              Add a variant
            </button>
          )}
        </div>
      </form>
      <section aria-labelledby="answers">
        <h2 id="answers">Answers</h2>
        <div class="answers">
          <Recorded call={call} />
          {made.value && <Answers key={made.value.trial.id} call={call} {...made.value} />}
        </div>
      </section>
    </>
  );
}

interface SettingsProps {
  asks: Signal<Case['kind']>;
  tools: Signal<string>;
}

const Settings = ({ asks, tools }: SettingsProps) => (
  <div class="actions">
    <label class="inline">
      <span>Ask for</span>
      <select value={asks.value} onChange={(event) => (asks.value = event.currentTarget.value as Case['kind'])}>
        <option value="call">this answer</option>
        <option value="run">the whole run</option>
      </select>
    </label>
    {asks.value === 'run' && (
      <label class="inline">
        <span>Tools</span>
        <select value={tools.value} onChange={(event) => (tools.value = event.currentTarget.value)}>
          <option value="recorded">answer from the record</option>
          <option value="live">run, where that is safe</option>
        </select>
      </label>
    )}
    <span class="muted">
      {asks.value === 'call'
        ? 'The model answers once; no tool runs.'
        : 'The question of the run is asked again, until an answer.'}{' '}
      The thread stays as it is.
    </span>
  </div>
);

interface VariantsProps {
  call: ModelCall;
  forms: Signal<Form[]>;
}

function Variants({ call, forms }: VariantsProps) {
  const agents = useLoaded<AgentList>((signal) => get('/v1/agents', {}, signal), []);
  const models = new Set([call.model, ...(agents.data?.data.map(({ model }) => model) ?? [])]);
  const change = (at: number, changed: Partial<Form>) =>
    (forms.value = forms.value.map((form, i) => (i === at ? { ...form, ...changed } : form)));
  return (
    <div class="answers">
      {forms.value.map(({ model, prompt, policy }, at) => (
        <fieldset key={at}>
          <legend>Variant {names[at]}</legend>
          <label>
            <span>Model</span>
            <input
              required
              list="models"
              value={model}
              onInput={(event) => change(at, { model: event.currentTarget.value })}
            />
          </label>
          <label>
            <span>System prompt (empty: none)</span>
            <textarea rows={4} value={prompt} onInput={(event) => change(at, { prompt: event.currentTarget.value })} />
          </label>
          <label>
            <span>Policy, a preset or JSON (empty: that of the agent)</span>
            <input
              list="policies"
              placeholder='{"keep_last_turns": 1, "max_messages": 4}'
              value={policy}
              onInput={(event) => change(at, { policy: event.currentTarget.value })}
            />
          </label>
          {forms.value.length > 1 && (
            <button
              type="button"
              aria-label={`Remove variant ${names[at]}`}
              onClick={() => (forms.value = forms.value.filter((_, i) => i !== at))}
            >
              Remove
            </button>
          )}
        </fieldset>
      ))}
      <datalist id="models">
        {[...models].map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <datalist id="policies">
        {['window', 'short_context', 'long_context', 'tool_focused'].map((preset) => (
          <option key={preset} value={preset} />
        ))}
      </datalist>
    </div>
  );
}

const Recorded = ({ call }: { call: ModelCall }) => (
  <section class="entry assistant" aria-label="Recorded">
    <h3>Recorded</h3>
    <Facts
      items={[
        ['Model', call.model],
        ['Duration', call.duration_ms === null ? null : duration(call.duration_ms)],
        ['Input', call.usage && <span class="num">{number(call.usage.input_tokens)} tokens</span>],
        ['Output', call.usage && <span class="num">{number(call.usage.output_tokens)} tokens</span>],
      ]}
    />
    <MessageBody message={call.answer as unknown as Message} />
  </section>
);

interface AnswersProps {
  call: ModelCall;
  trial: Eval;
  asks: Case['kind'];
}

/** The answers of a trial as they come, and what to do with each. */
function Answers({ call, trial, asks }: AnswersProps) {
  const loaded = useLoaded<{ now: Eval; items: EvalItem[] }>(
    async (signal) => {
      // before the items, so that the items of an eval that has ended are the last ones
      const now = await get<Eval>(v1('evals', trial.id), {}, signal);
      const { data } = await get<EvalItemList>(v1('evals', trial.id, 'items'), {}, signal);
      return { now, items: data };
    },
    [],
    { everyMs: (shown) => (shown && shown.now.status !== 'running' ? undefined : refreshMs) },
  );
  const items = loaded.data?.items ?? [];
  const models = useModels(items);
  const changes = new Map(
    (trial.spec as unknown as { variants: (Change & { name: string })[] }).variants.map((each) => [each.name, each]),
  );
  const unattended = loaded.data?.now.unattended ?? [];
  return (
    <>
      <Failure error={loaded.error} />
      {items.map((item) => (
        <ItemCard key={item.no} item={item} model={models.get(item.variant)} evalId={trial.id} baseline="A">
          {unattended.length > 0 && item.status === 'waiting' && (
            <div class="notice">No live worker has {unattended.join(', ')}.</div>
          )}
          {item.status === 'done' && (
            <div class="actions">
              <KeepCase
                call={call}
                asks={asks}
                answer={item.answer ?? ''}
                label={`Keep as case: answer ${item.variant}`}
              />
              <KeepVersion
                agent={item.agent}
                change={changes.get(item.variant)!}
                label={`Keep as version: variant ${item.variant}`}
              />
            </div>
          )}
        </ItemCard>
      ))}
    </>
  );
}

/** The case of the call or its run: the one that an earlier trial has left, or a new one. */
async function caseOf(call: ModelCall, asks: Case['kind']): Promise<string> {
  const { thread_id: threadId, llm_call_id: callId, run_id: runId } = call;
  const known = await get<CaseList>('/v1/cases', { dataset, thread_id: threadId, limit: 1_000 });
  const same = known.data.find(
    (each) => each.kind === asks && (asks === 'call' ? each.llm_call_id === callId : each.run_id === runId),
  );
  if (same) return same.id;
  const source = asks === 'call' ? { llm_call_id: callId } : { run_id: runId };
  return (await post<Case>('/v1/cases', { thread_id: threadId, dataset, ...source })).id;
}
