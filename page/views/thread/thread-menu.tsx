import { post, v1, remove } from '../../api/client.ts';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import type { ThreadState } from '../../state/thread.ts';
import type { ErasureReport } from '../../api/types.ts';
import { Facts } from '../../parts/basics.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { number } from '../../parts/format.ts';
import { href } from '../../state/route.ts';

/** Actions that cancel a run, replace the context or erase the thread. */
export function ThreadMenu({ state }: { state: ThreadState }) {
  const active = state.activeRun.value;
  const cancel = async () => {
    try {
      await post(v1('threads', state.id, 'runs', active!.id, 'cancel'));
      await state.refresh();
    } catch (error) {
      state.error.value = error as Error;
    }
  };
  return (
    <Menu>
      {active && <MenuItem onClick={cancel}>Cancel the run</MenuItem>}
      <ReplaceButton state={state} />
      <EraseButton state={state} />
    </Menu>
  );
}

/** Removes the thread for good. The user must type its id, because this cannot be undone. */
export const EraseButton = ({ state }: { state: ThreadState }) => (
  <DialogButton
    title="Erase this thread"
    button="Erase the thread"
    submit="Erase for good"
    kind="danger"
    onSubmit={async (fields) => {
      if (fields.get('id') !== state.id) throw new Error('That is not the id of this thread.');
      const report = await remove<ErasureReport>(v1('threads', state.id));
      state.close();
      state.erased.value = report;
    }}
  >
    <p>
      This removes the messages, runs, traces and jobs of the thread from the database and the queue. It cannot be
      undone.
    </p>
    <label>
      <span>
        To confirm, type the id of the thread: <code>{state.id}</code>
      </span>
      <input name="id" required autocomplete="off" spellcheck={false} />
    </label>
  </DialogButton>
);

/** What was removed, and what was not. */
export const Erased = ({ report }: { report: ErasureReport }) => (
  <article aria-labelledby="title">
    <h1 id="title">Erased: {report.thread_id}</h1>
    <Facts
      items={Object.entries(report.removed).map(([name, count]) => [
        name.replaceAll('_', ' '),
        <span class="num">{number(count)}</span>,
      ])}
    />
    <h2>Not removed</h2>
    <ul>
      {report.left.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
    <p>
      <a href={href('threads')}>All threads</a>
    </p>
  </article>
);

/** Restarts the context of a lane, with a message or empty. */
export const ReplaceButton = ({ state }: { state: ThreadState }) => (
  <DialogButton
    title="Replace the context"
    button="Replace the context"
    submit="Replace"
    kind="danger"
    onSubmit={async (fields) => {
      const text = String(fields.get('summary')).trim();
      const prompt = String(fields.get('prompt')).trim();
      const context = {
        entries: text === '' ? [] : [{ role: 'user', content: text }],
        ...(prompt === '' ? {} : { system_prompt: prompt }),
      };
      await post(v1('threads', state.id, 'context-operations'), {
        context_ref: fields.get('lane'),
        operation: { type: 'replace', result_context: context },
      });
      await state.refresh();
    }}
  >
    <p>The context of the lane starts again from here. The log stays as it is.</p>
    <label>
      <span>Lane</span>
      <input name="lane" required value={state.thread.value!.active_context_ref} />
    </label>
    <label>
      <span>First message (empty: an empty lane)</span>
      <textarea name="summary" rows={5} />
    </label>
    <label>
      <span>System prompt (empty: keep the current one)</span>
      <textarea name="prompt" rows={2} />
    </label>
  </DialogButton>
);
