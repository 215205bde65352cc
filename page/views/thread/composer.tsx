import { useSignal } from '@preact/signals';
import { post, v1 } from '../../api/client.ts';
import { AgentSelect } from '../../parts/agent-select.tsx';
import { Failure } from '../../parts/basics.tsx';
import type { ThreadState } from '../../state/thread.ts';

const sends = {
  ask: 'Ask',
  steer: 'Steer the run',
  inject: 'Inject into the run',
  wait: 'Ask after the run',
  interrupt: 'Cancel the run and ask',
} as const;
type Way = keyof typeof sends;

/** Sends text to the thread: a question, or input for the active run. */
export function Composer({ state }: { state: ThreadState }) {
  const text = useSignal('');
  const error = useSignal<Error | undefined>(undefined);
  const active = state.activeRun.value;
  const chosen = useSignal<Way>('steer');
  const way: Way = active ? (chosen.value === 'ask' ? 'steer' : chosen.value) : 'ask';
  const act = async (action: () => Promise<unknown>) => {
    error.value = undefined;
    try {
      await action();
      await state.refresh();
    } catch (caught) {
      error.value = caught as Error;
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const agent = new FormData(event.currentTarget as HTMLFormElement).get('agent');
    void act(async () => {
      if (active && (way === 'steer' || way === 'inject')) {
        await post(v1('threads', state.id, 'runs', active.id, way), { content: text.value, by: 'page' });
      } else {
        const busy = way === 'wait' || way === 'interrupt' ? { busy: way } : {};
        await post(v1('threads', state.id, 'runs'), { agent, input: text.value, ...busy });
      }
      text.value = '';
    });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
  };
  return (
    <form class="composer" onSubmit={submit}>
      <Failure error={error.value} />
      <label>
        <span class="hidden">Message</span>
        <textarea
          rows={2}
          required
          placeholder={active ? 'Write to the active run  (Ctrl+Enter sends)' : 'Ask something  (Ctrl+Enter sends)'}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={onKey}
        />
      </label>
      <div class="actions">
        {active ? (
          <label class="inline">
            <span class="hidden">How to send it</span>
            <select value={way} onChange={(event) => (chosen.value = event.currentTarget.value as Way)}>
              {(['steer', 'inject', 'wait', 'interrupt'] as const).map((key) => (
                <option key={key} value={key}>
                  {sends[key]}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        {way !== 'steer' && way !== 'inject' && <AgentSelect chosen={state.runs.value[0]?.agent} />}
        <button type="submit" class="primary">
          {active ? 'Send' : 'Ask'}
        </button>
      </div>
    </form>
  );
}
