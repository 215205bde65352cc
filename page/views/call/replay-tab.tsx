import { useSignal, type Signal } from '@preact/signals';
import { get, post, v1 } from '../../api/client.ts';
import type { AgentList, CallReplay, Json, Message, ModelCall } from '../../api/types.ts';
import { Facts, Failure } from '../../parts/basics.tsx';
import { duration, number } from '../../parts/format.ts';
import { MessageBody } from '../../parts/message.tsx';
import { useLoaded } from '../../state/use-loaded.ts';

export interface ReplayTabProps {
  call: ModelCall;
  replays: Signal<CallReplay[]>;
}

/** Replays the call with another model, prompt or policy, and shows the answers side by side. Nothing is stored. */
export const ReplayTab = ({ call, replays }: ReplayTabProps) => (
  <>
    <ReplayForm call={call} onReplayed={(made) => (replays.value = [made, ...replays.value])} />
    <div class="answers">
      <Answer
        title="Recorded"
        model={call.model}
        messages={call.messages.length}
        answer={call.answer as unknown as Message}
        usage={call.usage}
        durationMs={call.duration_ms}
      />
      {replays.value.map((made, index) => (
        <Answer
          key={replays.value.length - index}
          title={[`Replay ${replays.value.length - index}`, ...made.changes].join(', ')}
          model={made.model}
          messages={made.messages}
          answer={made.answer as Message | null}
          error={made.error}
          usage={made.usage}
          durationMs={made.duration_ms}
        />
      ))}
    </div>
  </>
);

function ReplayForm({ call, onReplayed }: { call: ModelCall; onReplayed: (made: CallReplay) => void }) {
  const agents = useLoaded<AgentList>((signal) => get('/v1/agents', {}, signal), []);
  const busy = useSignal(false);
  const error = useSignal<Error | undefined>(undefined);
  const sent = systemPromptOf(call.messages);
  const replay = async (event: Event) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    // a form sends its lines with CRLF
    const prompt = String(fields.get('prompt')).replaceAll('\r\n', '\n');
    const policy = String(fields.get('policy')).trim();
    busy.value = true;
    error.value = undefined;
    try {
      const made = await post<CallReplay>(v1('threads', call.thread_id, 'calls', call.llm_call_id, 'replay'), {
        model: fields.get('model'),
        ...(prompt === sent ? {} : { system_prompt: prompt === '' ? null : prompt }),
        ...(policy === '' ? {} : { context_policy: policyOf(policy) }),
      });
      const changes = [...(prompt === sent ? [] : ['other prompt']), ...(policy === '' ? [] : ['other policy'])];
      onReplayed({ ...made, changes });
    } catch (caught) {
      error.value = caught as Error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <form class="replay" onSubmit={(event) => void replay(event)}>
      <p class="muted">
        Sends the same messages to the model again, or those that another policy selects from the lane. Runs no tools
        and writes nothing to the thread, but spends tokens.
      </p>
      <label>
        <span>Model</span>
        <input name="model" required list="models" defaultValue={call.model} />
      </label>
      <datalist id="models">
        {[...new Set(agents.data?.data.map(({ model }) => model))].map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <label>
        <span>System prompt (empty: none)</span>
        <textarea name="prompt" rows={4} defaultValue={sent} />
      </label>
      <label>
        <span>Policy, a preset or JSON (empty: the same messages)</span>
        <input name="policy" list="policies" placeholder='{"keep_last_turns": 1, "max_messages": 4}' />
      </label>
      <datalist id="policies">
        {['window', 'short_context', 'long_context', 'tool_focused'].map((preset) => (
          <option key={preset} value={preset} />
        ))}
      </datalist>
      <Failure error={error.value} />
      <button type="submit" class="primary" disabled={busy.value}>
        {busy.value ? 'Waiting for the model…' : 'Replay'}
      </button>
    </form>
  );
}

function Answer({
  title,
  model,
  messages,
  answer,
  error,
  usage,
  durationMs,
}: {
  title: string;
  model: string;
  messages: number;
  answer: Message | null;
  error?: CallReplay['error'];
  usage: CallReplay['usage'];
  durationMs: number | null;
}) {
  return (
    <section class="entry assistant" aria-label={title}>
      <h2>{title}</h2>
      <Facts
        items={[
          ['Model', model],
          ['Messages', <span class="num">{messages}</span>],
          ['Input', usage && <span class="num">{number(usage.input_tokens)}</span>],
          ['Output', usage && <span class="num">{number(usage.output_tokens)}</span>],
          ['Duration', durationMs === null ? null : duration(durationMs)],
        ]}
      />
      {error && (
        <div class="failure">
          <strong>{error.type}</strong> {error.message}
        </div>
      )}
      {answer && <MessageBody message={answer} />}
    </section>
  );
}

/** The name of a preset, or an object. The API rejects anything else, with the reason. */
function policyOf(text: string): Json {
  if (!text.startsWith('{')) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Error('The policy is not valid JSON.');
  }
}

/** The text of the system message; empty without one. */
function systemPromptOf([first]: Message[]): string {
  return first?.role === 'system' && typeof first.content === 'string' ? first.content : '';
}
