import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { post, v1 } from '../../api/client.ts';
import type { BranchReceipt } from '../../api/types.ts';
import { AgentSelect } from '../../parts/agent-select.tsx';
import { Failure } from '../../parts/basics.tsx';
import type { Draft } from '../../state/branches.ts';
import { href, setQuery } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';
import { edited } from './versions.tsx';

const sends = {
  ask: 'Ask',
  steer: 'Steer the run',
  inject: 'Inject into the run',
  wait: 'Ask after the run',
  interrupt: 'Cancel the run and ask',
} as const;
type Way = keyof typeof sends;

const intoRun: Way[] = ['steer', 'inject'];
const afterRun: Way[] = ['wait', 'interrupt'];

interface ComposerProps {
  state: ThreadState;
  /** The lane on which to ask; undefined: the active one. */
  lane: string | undefined;
}

/** Sends text to the thread: a question, also on a new branch, or input for the active run. */
export function Composer({ state, lane }: ComposerProps) {
  const form = useRef<HTMLFormElement>(null);
  const text = useSignal('');
  const error = useSignal<Error | undefined>(undefined);
  const active = state.activeRun.value;
  const draft = state.draft.value;
  const chosen = useSignal<Way>('steer');
  const ways = draft ? afterRun : [...intoRun, ...afterRun];
  const way: Way = !active ? 'ask' : ways.includes(chosen.value) ? chosen.value : ways[0]!;
  useEffect(() => {
    error.value = undefined;
    if (draft) form.current!.querySelector<HTMLElement>('textarea, [type=submit]')!.focus();
  }, [draft?.of]);
  const send = async (agent: FormDataEntryValue | null) => {
    const busy = afterRun.includes(way) ? { busy: way } : {};
    if (draft) return branch(state, draft, { agent, ...busy });
    if (intoRun.includes(way)) {
      await post(v1('threads', state.id, 'runs', active!.id, way), { content: text.value, by: 'page' });
    } else {
      const on = lane === undefined ? {} : { context_ref: lane };
      await post(v1('threads', state.id, 'runs'), { agent, input: text.value, ...on, ...busy });
    }
    text.value = '';
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    error.value = undefined;
    try {
      await send(new FormData(event.currentTarget as HTMLFormElement).get('agent'));
      await state.refresh();
    } catch (caught) {
      error.value = caught as Error;
    }
  };
  const write = (words: string) => {
    if (draft) state.draft.value = { ...draft, text: words };
    else text.value = words;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
  };
  return (
    <form class="composer" ref={form} onSubmit={(event) => void submit(event)}>
      <Failure error={error.value} />
      {draft ? (
        <p>
          {draft.text === undefined
            ? `Another answer in place of #${draft.of.seq}`
            : `The question #${draft.of.seq}, edited`}
          , on a new branch. The old one stays.
        </p>
      ) : null}
      {draft && draft.text === undefined ? null : (
        <label>
          <span class="hidden">Message</span>
          <textarea
            rows={2}
            required
            placeholder={active ? 'Write to the active run  (Ctrl+Enter sends)' : 'Ask something  (Ctrl+Enter sends)'}
            value={draft ? draft.text : text.value}
            onInput={(event) => write(event.currentTarget.value)}
            onKeyDown={onKey}
          />
        </label>
      )}
      <div class="actions">
        {active ? (
          <label class="inline">
            <span class="hidden">How to send it</span>
            <select value={way} onChange={(event) => (chosen.value = event.currentTarget.value as Way)}>
              {ways.map((key) => (
                <option key={key} value={key}>
                  {sends[key]}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        {!intoRun.includes(way) && <AgentSelect key={draft?.of.seq} chosen={agentOf(state, draft)} />}
        {draft && (
          <button type="button" onClick={() => (state.draft.value = undefined)}>
            Cancel
          </button>
        )}
        <button type="submit" class="primary">
          {draft ? (draft.text === undefined ? 'Ask again' : 'Ask') : active ? 'Send' : 'Ask'}
        </button>
      </div>
    </form>
  );
}

/** The agent that answered before. */
const agentOf = (state: ThreadState, draft: Draft | undefined): string | undefined =>
  (state.runs.value.find(({ id }) => id === draft?.of.run_id) ?? state.runs.value[0])?.agent;

/** Makes the branch, and looks at it. */
async function branch(state: ThreadState, { of, after, text }: Draft, run: object): Promise<void> {
  const made = await post<BranchReceipt>(v1('threads', state.id, 'branch'), {
    after_seq: after,
    context_ref: of.context_ref,
    ...(text === undefined ? {} : { input: edited(of, text) }),
    ...run,
  });
  state.draft.value = undefined;
  setQuery({ lane: made.shown ? undefined : made.context_ref, at: undefined });
}

/** Says that the reader looks at another lane than the one that the thread shows, which they can change. */
export function Elsewhere({ state, lane }: { state: ThreadState; lane: string }) {
  const error = useSignal<Error | undefined>(undefined);
  const later = useSignal(false);
  const active = state.thread.value!.active_context_ref;
  const show = async () => {
    error.value = undefined;
    try {
      later.value = !(await state.switchTo(lane));
    } catch (caught) {
      error.value = caught as Error;
    }
  };
  return (
    <>
      <Failure error={error.value} />
      <div class="notice elsewhere" role="status">
        <span>
          You look at {lane}. The thread shows {active}
          {later.value ? ` until the active run has ended, then ${lane}` : ''}.
        </span>
        <span class="actions">
          <a href={href('threads', state.id, 'compare', { left: active, right: lane })}>Compare</a>
          {!later.value && (
            <button type="button" class="small" onClick={() => void show()}>
              Show {lane}
            </button>
          )}
        </span>
      </div>
    </>
  );
}
